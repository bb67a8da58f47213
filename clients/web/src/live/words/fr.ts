/** Games at play in French. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "live.title": "En direct",
  "live.about": "Les parties qui se jouent en ce moment, telles que tous les spectateurs les voient.",
  "live.all": "Toutes les parties en cours",
  "live.none": "Aucune partie publique en ce moment.",
  "live.picture": "Les tours de {names} en ce moment",
  "live.move": "Coup {n}",
  "live.watchers": { one: "{n} personne regarde", other: "{n} personnes regardent" },
  "live.next": "Plus de parties",
} satisfies Record<keyof typeof en, Text>;
