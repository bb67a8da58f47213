/** The words round a lesson in English: the source of all other languages. They are loaded with the lesson. */
import type { Text } from "../../words/en";

export default {
  "learn.title": "Learn {game}",
  "learn.round": "Round {n} of {most}",
  "learn.next": "Next",
  "learn.show": "Show me",
  "learn.skip": "Skip this round",
  "learn.again": "Start over",
  "learn.leave": "Leave the lesson",
  "learn.play": "Play your first game",
  "learn.rules": "All rules",
  "learn.missing": "There is no lesson for this game.",
} as const satisfies Record<string, Text>;
