/** Games at play in German. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "live.title": "Jetzt live",
  "live.about": "Spiele, die gerade laufen, so wie alle Zuschauer sie sehen.",
  "live.all": "Alle laufenden Spiele",
  "live.none": "Im Moment läuft kein öffentliches Spiel.",
  "live.picture": "Die Türme von {names} in diesem Moment",
  "live.move": "Zug {n}",
  "live.watchers": { one: "{n} Person schaut zu", other: "{n} Personen schauen zu" },
  "live.next": "Weitere Spiele",
} satisfies Record<keyof typeof en, Text>;
