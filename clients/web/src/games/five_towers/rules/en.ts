/** The rules of Five Towers for players, in English: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "What it is about",
    paragraphs: [
      "Every player builds up to five towers, one of each kind: candy, ghost, tree, metal and sand. In every round up to five cards lie open, and you say how many of them you would build. Whoever says the most must build exactly that many.",
      "Cards are points, towers with a spire count double, and whatever you tear down costs more and more.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "The auction",
    paragraphs: [
      "The start player names a number first, from 0 up to the number of open cards. Then everybody in turn, once, either names a higher number or passes. Numbers may be skipped.",
      "Naming all open cards ends the auction at once. If nobody goes above 0, all cards are discarded and the same player starts again. Otherwise whoever sits left of the builder starts the next round.",
      "You may only say what you can build. How that is checked depends on the rules that were chosen for the room.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Building",
    paragraphs: [
      "Take exactly as many open cards as you bid and put them, in any order, on your tower of the same kind. Any card may begin a tower.",
      "Every card must be lower than the one it is put on. Gaps do not matter, equal is not lower.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "The 8, the 9 and the spire",
    paragraphs: [
      "On an 8 you may put anything, so a tower can grow high again. The 8 itself must be lower than the card it is put on.",
      "A 9 may be put on any card but a spire. What follows must be lower than 9.",
      "A 0 is a spire. It finishes the tower: nothing may lie on it.",
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
      "What nobody took is discarded. When the pile is used up, the discarded cards are shuffled once and played again. When they are used up too, the game ends after that round.",
      "Every card in a tower is 1 point. In towers with a spire every card is 1 point more. In your tallest tower every card is 1 point more. Then take off what your torn-down cards cost. The highest total wins; equal totals share the win.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Variants",
    paragraphs: [
      "Standard: a bid that you could not build is refused at once.",
      "As printed: nobody checks a bid until it wins. If it cannot be built, it is taken back, its caller has to name less, and the auction goes on from there.",
      "Spanish: as printed, but an 8 may be put on any card, even on a spire, and only lower cards or a 9 may lie on it. A tower with a spire anywhere in it counts double.",
    ],
  },
] satisfies RulesText;
