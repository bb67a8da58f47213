/** The rules of Nikitin Towers for players, in Spanish: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Objetivo del juego",
    paragraphs: [
      "Cada jugador construye una torre sobre un tapete de tres por tres casillas. Hay 45 bloques de madera en un montón: piezas de uno a seis cubos, y de las más grandes cada forma está una sola vez.",
      "La partida termina cuando el montón se acaba. Entonces gana la torre más alta.",
    ],
    figure: "blocks",
  },
  {
    id: "turn",
    title: "Tu turno",
    paragraphs: [
      "Tiras el dado. Dice cuántos cubos tiene tu bloque. Si en el montón no queda ninguno de ese tamaño, vale el siguiente más pequeño.",
      "Tu vecino de la izquierda elige para ti uno de los bloques de ese tamaño. Espera uno incómodo. Luego lo pones y le toca al siguiente jugador.",
    ],
  },
  {
    id: "placing",
    title: "Poner un bloque",
    paragraphs: [
      "Gira el bloque como quieras, elige una columna y déjalo bajar. Baja en vertical hasta tocar la torre o el tapete. No se puede meter de lado, y los bloques ya puestos nunca se mueven.",
      "En el primer nivel los bloques deben quedar dentro del tapete. Más arriba pueden sobresalir tanto como te atrevas.",
    ],
    figure: "placing",
  },
  {
    id: "standing",
    title: "¿Se sostendrá?",
    paragraphs: [
      "El juego muestra dónde descansará un bloque, pero nunca si se sostendrá. Eso lo juzgas tú. Los bloques están sueltos, sin pegamento, y la mesa tiembla un poco en todas las direcciones.",
      "Lo que no puede sostenerse cae y vuelve al montón, a menudo con bloques puestos mucho antes. Un poste de un cubo de ancho aguanta hasta nueve niveles; las torres más anchas llegan más alto.",
    ],
    figure: "balance",
  },
  {
    id: "returning",
    title: "Devolver un bloque",
    paragraphs: [
      "Solo puedes devolver el bloque si no hay ningún sitio donde se sostenga. Pregunta y el juego lo busca. Si hay un sitio, te lo dice, pero no dónde está.",
      "Si se te acaba el tiempo, el bloque también vuelve. Si se le acaba al vecino, el bloque se sortea.",
    ],
  },
  {
    id: "end",
    title: "El final",
    paragraphs: [
      "La altura de una torre es su nivel más alto con algún cubo. Las alturas iguales comparten la victoria.",
      "La partida también termina si durante 30 turnos seguidos el montón no ha quedado más pequeño que nunca, o tras 120 turnos.",
    ],
  },
  {
    id: "ring",
    title: "Variante: el anillo más alto",
    paragraphs: [
      "En esta variante la altura no importa. Cuenta el nivel más alto en el que están llenas las ocho casillas alrededor del centro del tapete. El centro puede estar vacío, y los niveles de debajo también.",
    ],
    figure: "ring",
  },
] satisfies RulesText;
