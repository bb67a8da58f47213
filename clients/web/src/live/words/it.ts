/** Games at play in Italian. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "live.title": "In diretta",
  "live.about": "Le partite che si giocano in questo momento, come le vedono tutti gli spettatori.",
  "live.all": "Tutte le partite in corso",
  "live.none": "In questo momento nessuno gioca una partita pubblica.",
  "live.picture": "Le torri di {names} in questo momento",
  "live.move": "Mossa {n}",
  "live.watchers": { one: "{n} persona guarda", other: "{n} persone guardano" },
  "live.next": "Altre partite",
} satisfies Record<keyof typeof en, Text>;
