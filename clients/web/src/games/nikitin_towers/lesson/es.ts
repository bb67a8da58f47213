/** The lesson of Nikitin Towers in Spanish. `lessons.py` has the script. */
import type en from "./en";

export default {
  "nikitin_towers.lesson.die": "Aprendes el juego en cinco rondas cortas. Cada jugador construye una torre en un tapete de tres por tres casillas. Gana la torre más alta. Has sacado un 6, así que tu bloque tiene seis cubos. El bot es tu vecino y elige el bloque para ti.",
  "nikitin_towers.lesson.place": "El bot te ha dado la losa. Está de canto. Pulsa el botón de giro de la derecha (tecla {key}): ahora queda plana. Las flechas la mueven y también puedes arrastrarla. En el primer nivel un bloque tiene que estar sobre el tapete. Pulsa Poner.",
  "nikitin_towers.lesson.place.else": "En una partida real puedes ponerlo ahí. Esta lección necesita otro sitio. Sigue el texto o pulsa Muéstramelo.",
  "nikitin_towers.lesson.choose": "Ahora construye el bot y tú eliges su bloque. El dado muestra 5. En una partida real eliges entre todos los bloques de ese tamaño. Toma uno incómodo: da la W.",
  "nikitin_towers.lesson.choose.else": "Esta lección sigue con el bloque que se muestra.",
  "nikitin_towers.lesson.tip": "Has sacado un 3 y tienes una barra. Quedaría plana sobre tu losa. Ponla de pie: pulsa el botón de giro del medio (tecla {key}) y luego Poner.",
  "nikitin_towers.lesson.reply": "Tu torre ya tiene cuatro niveles. El bot ha sacado un 5. Dale la cruz.",
  "nikitin_towers.lesson.move": "Tienes un cuadrado. Muévelo a la derecha (→). Allí quedaría encima de la barra y se caería: el juego muestra dónde queda un bloque, pero nunca si se sostiene. Muévelo otra vez a la derecha (→) y pulsa Poner.",
  "nikitin_towers.lesson.risk": "El bot ha sacado un 3. Dale una barra y mira.",
  "nikitin_towers.lesson.crash": "La torre se derrumba. El bot dejó que la barra sobresaliera demasiado. La barra cayó y se llevó otro bloque. Los bloques caídos vuelven al montón.",
  "nikitin_towers.lesson.pole": "Tienes una segunda barra. Muévela a la derecha (→) y pulsa el botón de giro del medio (tecla {key}) para que quede de pie sobre la primera. Pulsa Poner.",
  "nikitin_towers.lesson.awkward": "Tu torre tiene siete niveles. El bot ha sacado un 5. Dale la T con botón.",
  "nikitin_towers.lesson.crown": "Tienes la última barra. Muévela a la derecha (→). Esta vez no la pongas de pie: un poste de un cubo de ancho se cae cuando es demasiado alto. Plana está en equilibrio. Pulsa Poner.",
  "nikitin_towers.lesson.end": "Tu torre tiene ocho niveles y la del bot tres. Una partida termina cuando el montón está vacío. Si un bloque no se sostendría en ningún sitio, puedes devolverlo. Ahora conoces las reglas.",
} satisfies Record<keyof typeof en, string>;
