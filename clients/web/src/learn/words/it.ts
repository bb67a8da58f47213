/** The words round a lesson in Italian. */
import type en from "./en";

export default {
  "learn.title": "Impara {game}",
  "learn.round": "Turno {n} di {most}",
  "learn.next": "Avanti",
  "learn.show": "Fammi vedere",
  "learn.skip": "Salta il turno",
  "learn.again": "Da capo",
  "learn.leave": "Esci dalla lezione",
  "learn.play": "Gioca la tua prima partita",
  "learn.rules": "Tutte le regole",
  "learn.missing": "Non c’è una lezione per questo gioco.",
} satisfies Record<keyof typeof en, string>;
