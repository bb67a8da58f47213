/** The words round a lesson in German. */
import type en from "./en";

export default {
  "learn.title": "{game} lernen",
  "learn.round": "Runde {n} von {most}",
  "learn.next": "Weiter",
  "learn.show": "Zeig es mir",
  "learn.skip": "Runde überspringen",
  "learn.again": "Von vorn",
  "learn.leave": "Lektion verlassen",
  "learn.play": "Spiel dein erstes Spiel",
  "learn.rules": "Alle Regeln",
  "learn.missing": "Für dieses Spiel gibt es keine Lektion.",
} satisfies Record<keyof typeof en, string>;
