/** The rules of Five Towers for players, in Spanish. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Objetivo del juego",
    paragraphs: [
      "Cada jugador construye hasta cinco torres, una de cada tipo: Caramelo, Fantasma, Bosque, Metal y Arena. En cada ronda hay hasta cinco cartas a la vista y dices cuántas de ellas construirías. Quien diga más tiene que construir exactamente esas.",
      "Las cartas son puntos, las torres con aguja cuentan doble y lo que derribas cuesta cada vez más.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "La subasta",
    paragraphs: [
      "El jugador inicial dice primero un número, de 0 hasta la cantidad de cartas a la vista. Después, por turno y una sola vez, cada cual dice un número mayor o pasa. Se pueden saltar números.",
      "Decir todas las cartas a la vista termina la subasta en el acto. Si nadie sube de 0, se descartan todas las cartas y vuelve a empezar el mismo jugador. Si no, la siguiente ronda la empieza quien esté a la izquierda de quien construyó.",
      "Solo puedes decir lo que puedas construir. Cómo se revisa depende de las reglas elegidas para la sala.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Construir",
    paragraphs: [
      "Toma exactamente tantas cartas a la vista como hayas pujado y ponlas, en el orden que quieras, en tu torre del mismo tipo. Cualquier carta puede empezar una torre.",
      "Cada carta tiene que ser más baja que la que queda debajo. Puede haber saltos; igual no es más baja.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "El 8, el 9 y la aguja",
    paragraphs: [
      "Sobre un 8 puedes poner cualquier carta, así que una torre puede volver a empezar desde arriba. El 8 mismo tiene que ser más bajo que la carta que queda debajo.",
      "Un 9 puede ir sobre cualquier carta menos una aguja. Lo que siga tiene que ser más bajo que 9.",
      "Un 0 es una aguja. Remata la torre: encima no puede ir nada.",
    ],
    figure: "special",
  },
  {
    id: "demolishing",
    title: "Derribar",
    paragraphs: [
      "Antes de construir puedes, si quieres, derribar la carta superior de una de tus torres. Sale del juego y va a tu montón de cartas derribadas. Las agujas se quedan.",
      "Al final, la primera carta de ahí cuesta 1 punto, la segunda 2 más, la tercera 3 más, y así sucesivamente.",
    ],
    figure: "demolishing",
  },
  {
    id: "end",
    title: "Final y puntos",
    paragraphs: [
      "Lo que nadie se lleva se descarta. Cuando se acaba el mazo, los descartes se barajan una vez y se vuelven a jugar. Cuando también se acaban, la partida termina después de esa ronda.",
      "Cada carta en una torre es 1 punto. En las torres con aguja, cada carta vale 1 punto más. En tu torre más alta, cada carta vale 1 punto más. Luego resta lo que cuestan tus cartas derribadas. Gana la suma más alta; si hay empate, se comparte la victoria.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Variantes",
    paragraphs: [
      "Estándar: una puja que no podrías construir se rechaza al momento.",
      "Como en la caja: nadie revisa una puja hasta que gana. Si no se puede construir, se retira, quien la hizo tiene que decir menos y la subasta sigue desde ahí.",
      "Españolas: como en la caja, pero un 8 puede ir sobre cualquier carta, incluso una aguja, y encima solo pueden ir cartas más bajas o un 9. Una torre con una aguja en cualquier parte cuenta doble. Se puede derribar cualquier carta superior, también una aguja.",
    ],
  },
] satisfies RulesText;
