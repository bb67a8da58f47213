/** Games at play in English: the source of all other languages. It is loaded with their pictures. */
import type { Text } from "../../words/en";

export default {
  "live.title": "Live now",
  "live.about": "Games that people play at this moment, as every watcher sees them.",
  "live.all": "All games at play",
  "live.none": "No public game is being played at the moment.",
  "live.picture": "Towers of {names} at this moment",
  "live.move": "Move {n}",
  "live.watchers": { one: "{n} person is watching", other: "{n} people are watching" },
  "live.next": "More games",
} as const satisfies Record<string, Text>;
