/** Games at play in Spanish. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "live.title": "En directo",
  "live.about": "Partidas que se juegan ahora mismo, tal como las ven todos los espectadores.",
  "live.all": "Todas las partidas en curso",
  "live.none": "Ahora mismo no se juega ninguna partida pública.",
  "live.picture": "Las torres de {names} en este momento",
  "live.move": "Jugada {n}",
  "live.watchers": { one: "{n} persona mira", other: "{n} personas miran" },
  "live.next": "Más partidas",
} satisfies Record<keyof typeof en, Text>;
