/** Games at play in Dutch. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "live.title": "Nu live",
  "live.about": "Spellen die nu bezig zijn, zoals alle kijkers ze zien.",
  "live.all": "Alle lopende spellen",
  "live.none": "Er wordt nu geen openbaar spel gespeeld.",
  "live.picture": "De torens van {names} op dit moment",
  "live.move": "Zet {n}",
  "live.watchers": { one: "{n} persoon kijkt", other: "{n} personen kijken" },
  "live.next": "Meer spellen",
} satisfies Record<keyof typeof en, Text>;
