/** The words round a lesson in Spanish. */
import type en from "./en";

export default {
  "learn.title": "Aprende {game}",
  "learn.round": "Ronda {n} de {most}",
  "learn.next": "Siguiente",
  "learn.show": "Muéstramelo",
  "learn.skip": "Saltar la ronda",
  "learn.again": "Desde el principio",
  "learn.leave": "Salir de la lección",
  "learn.play": "Juega tu primera partida",
  "learn.rules": "Todas las reglas",
  "learn.missing": "No hay lección para este juego.",
} satisfies Record<keyof typeof en, string>;
