/** The rules of Five Towers for players, in English: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Goal of the game",
    paragraphs: [
      "Every player builds up to five towers, one of each kind: candy, ghost, tree, metal and sand. In every round up to five cards lie open, and the players bid how many of them they would build. The highest bidder must build exactly that many.",
      "Every card is a point, and towers with a spire count double. Every card that you tear down costs more than the one before.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "The auction",
    paragraphs: [
      "The start player bids first, from 0 up to the number of open cards. Then each player in turn, once, bids higher or passes. Bids may skip numbers.",
      "A bid for all open cards ends the auction at once. If no bid is above 0, all cards are discarded and the same player starts again. Otherwise the player to the left of the builder starts the next round.",
      "You may bid only what you can build. How the game checks this depends on the rules of the room.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Building",
    paragraphs: [
      "Take exactly as many open cards as you bid and put them, in any order, on your tower of the same kind. Any card may begin a tower.",
      "Every card must be lower than the one it is put on. Gaps are allowed. An equal card is not lower.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "The 8, the 9 and the spire",
    paragraphs: [
      "Any card may go on an 8, so a tower can start high again. The 8 itself must be lower than the card it is put on.",
      "A 9 may be put on any card but a spire. The next card must be lower than 9.",
      "A 0 is a spire. It finishes the tower: no card may go on it.",
    ],
    figure: "special",
  },
  {
    id: "demolishing",
    title: "Tearing down",
    paragraphs: [
      "Before you build you may tear down the top card of one of your towers, if you like. It leaves the game and lies on your pile of torn-down cards. Spires stay.",
      "At the end the first card there costs 1 point, the second 2 more, the third 3 more, and so on.",
    ],
    figure: "demolishing",
  },
  {
    id: "end",
    title: "End and points",
    paragraphs: [
      "Cards that no player took are discarded. When the pile is used up, the discarded cards are shuffled once and played again. When they are used up too, the game ends after that round.",
      "Every card in a tower is 1 point. In towers with a spire every card is 1 point more. In your tallest tower every card is 1 point more. Then subtract the cost of your torn-down cards. The highest total wins; equal totals share the win.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Variants",
    paragraphs: [
      "Standard: a bid that you could not build is refused at once.",
      "As printed: a bid is checked only when it wins. If it cannot be built, it is taken back, the bidder must bid less, and the auction continues from there.",
      "Spanish: as printed, but an 8 may be put on any card, even on a spire, and only lower cards or a 9 may lie on it. A tower with a spire anywhere in it counts double. Any top card may be torn down, also a spire.",
    ],
  },
] satisfies RulesText;
