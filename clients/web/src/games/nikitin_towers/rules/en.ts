/** The rules of Nikitin Towers for players, in English: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Goal of the game",
    paragraphs: [
      "Every player builds one tower on a mat of three by three cells. The pile holds 45 wooden blocks of one to six cubes. The larger shapes are there only once each.",
      "The game ends when the pile is empty. Then the tallest tower wins.",
    ],
    figure: "blocks",
  },
  {
    id: "turn",
    title: "Your turn",
    paragraphs: [
      "You roll the die. It says how many cubes your block has. If the pile has no block of that size, the next smaller size counts.",
      "Your left neighbour chooses one of the blocks of that size for you. Expect an awkward one. Then you place it, and it is the next player’s turn.",
    ],
  },
  {
    id: "placing",
    title: "Placing a block",
    paragraphs: [
      "Turn the block as you like, choose a column, and let it down. It comes straight down until it meets the tower or the mat. It cannot be pushed in sideways, and blocks on the tower are never moved.",
      "On the first level blocks must lie inside the mat. Higher up they may stick out as far as you dare.",
    ],
    figure: "placing",
  },
  {
    id: "standing",
    title: "Will it stand?",
    paragraphs: [
      "The game shows where a block will come to rest, but never whether it will stand. You judge that. Blocks lie loosely, without glue, and the table is shaken a little in every direction.",
      "Blocks that cannot stand fall and go back to the pile, often together with blocks that were placed long before. A pole one cube wide stands up to nine levels; broader towers grow taller.",
    ],
    figure: "balance",
  },
  {
    id: "returning",
    title: "Giving a block back",
    paragraphs: [
      "You may give the block back only if there is no place where it would stand. Ask, and the game searches. If there is a place, the game says so, but not where.",
      "If your time runs out, the block goes back as well. If the neighbour’s time runs out, the block is drawn by lot.",
    ],
  },
  {
    id: "end",
    title: "The end",
    paragraphs: [
      "The height of a tower is its highest level with a cube on it. Equal heights share the win.",
      "The game also ends after 30 turns in a row in which the pile did not reach a new low, or after 120 turns.",
    ],
  },
  {
    id: "ring",
    title: "Variant: the highest ring",
    paragraphs: [
      "In this variant the height does not matter. The highest level with all eight cells around the middle of the mat filled wins. The middle may be empty, and so may the levels below.",
    ],
    figure: "ring",
  },
] satisfies RulesText;
