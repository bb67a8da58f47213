/** The lesson of Five Towers in Spanish. `lessons.py` has the script. */
import type en from "./en";

export default {
  "five_towers.lesson.cards": "Aprendes el juego en cinco rondas cortas. Hay cinco cartas a la vista. Tú y el bot decís cuántas de ellas construiríais. Gana la puja más alta y construye exactamente esas cartas.",
  "five_towers.lesson.bid": "Tú empiezas la primera ronda. Tres de estas cartas encajan bien. Puja {n}.",
  "five_towers.lesson.bid.else": "En una partida real puedes pujar cualquier número que puedas construir. Esta lección sigue con {n}.",
  "five_towers.lesson.build": "El bot pasa, así que construyes 3 cartas. Cada tipo tiene su propia torre. Una carta nueva tiene que ser más baja que la carta de debajo. Elige Bosque 11, después Bosque 4 y después Arena 5. Luego pulsa Construir.",
  "five_towers.lesson.build.else": "En una partida real eliges libremente. Esta lección sigue con las cartas iluminadas.",
  "five_towers.lesson.pass": "Las cartas que ningún jugador toma se descartan. El bot empieza esta ronda y puja 2. Tendrías que pujar más, pero estas cartas te ayudan poco. Pulsa Pasar.",
  "five_towers.lesson.pass.else": "En una partida real puedes pujar más. En esta ronda pasas y miras cómo construye el bot.",
  "five_towers.lesson.nine": "El bot ha construido 2 cartas. Ahora empiezas tú otra vez. Mira Bosque 9: un 9 puede ir sobre cualquier carta menos un 0. Puja {n}.",
  "five_towers.lesson.nine.build": "El bot pasa. Elige Bosque 9: va sobre tu 4 aunque es más alta. Después elige Metal 10 y pulsa Construir.",
  "five_towers.lesson.tear": "El bot empieza y puja 1. Las pujas pueden saltar números. Puja {n}.",
  "five_towers.lesson.tear.build": "Arena 7 es demasiado alta para tu Arena 5. Antes de construir puedes derribar una carta superior. Pulsa Arena 5 en tu torre. Después elige Arena 7, Caramelo 10 y Bosque 1, y pulsa Construir.",
  "five_towers.lesson.spire": "La carta derribada cuesta 1 punto al final. La siguiente costará 2, luego 3. Ahora mira Bosque 0: un 0 es una aguja. El bot puja 1. Puja {n}.",
  "five_towers.lesson.spire.build": "Una aguja remata su torre, y cada carta de esa torre cuenta doble. Elige Bosque 0 y Arena 1, y pulsa Construir.",
  "five_towers.lesson.end": "Tienes 18 puntos. Cada carta de una torre es 1 punto. Una aguja da 1 punto más a cada carta de su torre, y tu torre más alta también. Una partida real termina cuando las cartas se han gastado dos veces. Una regla más: cualquier carta puede ir sobre un 8.",
} satisfies Record<keyof typeof en, string>;
