/** Games at play in Bulgarian. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "live.title": "На живо",
  "live.about": "Игри, които се играят в момента, така както ги виждат всички зрители.",
  "live.all": "Всички текущи игри",
  "live.none": "В момента няма открита игра.",
  "live.picture": "Кулите на {names} в този момент",
  "live.move": "Ход {n}",
  "live.watchers": { one: "{n} човек гледа", other: "{n} души гледат" },
  "live.next": "Още игри",
} satisfies Record<keyof typeof en, Text>;
