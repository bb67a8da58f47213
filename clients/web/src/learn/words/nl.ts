/** The words round a lesson in Dutch. */
import type en from "./en";

export default {
  "learn.title": "Leer {game}",
  "learn.round": "Ronde {n} van {most}",
  "learn.next": "Verder",
  "learn.show": "Laat zien",
  "learn.skip": "Ronde overslaan",
  "learn.again": "Opnieuw",
  "learn.leave": "Les verlaten",
  "learn.play": "Speel je eerste spel",
  "learn.rules": "Alle regels",
  "learn.missing": "Voor dit spel is er geen les.",
} satisfies Record<keyof typeof en, string>;
