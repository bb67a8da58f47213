/** Being told while away, in German. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "away.switch": "Sag mir, wenn ich dran bin, auch wenn die Seite geschlossen ist",
  "away.switch.about": "Auch bei Einladungen und wenn ein Spiel von dir zu Ende ist. Die Nachrichten kommen über den Push-Dienst deines Browsers, der sie nicht lesen kann.",
  "away.done": "Dieses Gerät wird ab jetzt benachrichtigt.",
  "away.failed": "Der Push-Dienst dieses Browsers antwortet nicht. Versuche es später noch einmal.",
  "away.impossible": "Dieser Browser kann keine Nachrichten zeigen, während die Seite geschlossen ist.",
  "away.install": "Lege diese Seite auf einem iPhone oder iPad zuerst auf den Home-Bildschirm, und öffne sie von dort.",
  "away.offer": "Sollen wir dir sagen, wenn du dran bist, auch wenn die Seite geschlossen ist?",
  "away.offer.no": "Nein, danke",
  "away.offer.yes": "Ja, gern",
  "away.offline": "Du bist offline. Spiele gehen weiter, sobald du wieder online bist. Die Aufzeichnungen auf diesem Gerät kannst du ansehen.",
  "away.records": "Aufzeichnungen auf diesem Gerät",
  "away.turn.title": "{game}: Du bist dran",
  "away.invited.title": "{game}: Du bist eingeladen",
  "away.ended.title": "{game}: Das Spiel ist zu Ende",
  "away.with": "Raum {room}, mit {names}",
  "away.room": "Raum {room}",
  "away.invited.text": "{names} lädt dich in den Raum {room} ein",
  "away.ended.text": "Platz {place} im Raum {room}, mit {names}",
} satisfies Record<keyof typeof en, Text>;
