/** Being told while away, in Spanish. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "away.switch": "Avísame cuando sea mi turno, también con la página cerrada",
  "away.switch.about": "También de invitaciones y del final de tus partidas. Los mensajes llegan por el servicio push de tu navegador, que no puede leerlos.",
  "away.done": "Este dispositivo recibirá avisos desde ahora.",
  "away.failed": "El servicio push de este navegador no responde. Inténtalo más tarde.",
  "away.impossible": "Este navegador no puede mostrar mensajes con la página cerrada.",
  "away.install": "En un iPhone o iPad, añade primero esta página a la pantalla de inicio y ábrela desde allí.",
  "away.offer": "¿Te avisamos cuando sea tu turno, también con la página cerrada?",
  "away.offer.no": "No, gracias",
  "away.offer.yes": "Sí, avisadme",
  "away.offline": "Estás sin conexión. Las partidas siguen cuando vuelvas. Puedes ver las grabaciones de este dispositivo.",
  "away.records": "Grabaciones en este dispositivo",
  "away.turn.title": "{game}: es tu turno",
  "away.invited.title": "{game}: tienes una invitación",
  "away.ended.title": "{game}: la partida ha terminado",
  "away.with": "Sala {room}, con {names}",
  "away.room": "Sala {room}",
  "away.invited.text": "{names} te invita a la sala {room}",
  "away.ended.text": "Puesto {place} en la sala {room}, con {names}",
} satisfies Record<keyof typeof en, Text>;
