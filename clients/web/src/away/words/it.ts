/** Being told while away, in Italian. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "away.switch": "Avvisami quando tocca a me, anche a pagina chiusa",
  "away.switch.about": "Anche per gli inviti e la fine delle tue partite. I messaggi passano dal servizio push del tuo browser, che non può leggerli.",
  "away.done": "D’ora in poi questo dispositivo riceve gli avvisi.",
  "away.failed": "Il servizio push di questo browser non risponde. Riprova più tardi.",
  "away.impossible": "Questo browser non può mostrare messaggi a pagina chiusa.",
  "away.install": "Su iPhone o iPad, aggiungi prima questa pagina alla schermata Home e aprila da lì.",
  "away.offer": "Vuoi un avviso quando tocca a te, anche a pagina chiusa?",
  "away.offer.no": "No, grazie",
  "away.offer.yes": "Sì, avvisami",
  "away.offline": "Sei offline. Le partite continuano al tuo ritorno. Puoi guardare le registrazioni su questo dispositivo.",
  "away.records": "Registrazioni su questo dispositivo",
  "away.turn.title": "{game}: tocca a te",
  "away.invited.title": "{game}: hai un invito",
  "away.ended.title": "{game}: la partita è finita",
  "away.with": "Stanza {room}, con {names}",
  "away.room": "Stanza {room}",
  "away.invited.text": "{names} ti invita nella stanza {room}",
  "away.ended.text": "Posto {place} nella stanza {room}, con {names}",
} satisfies Record<keyof typeof en, Text>;
