/** The rules of Nikitin Towers for players, in Italian: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Scopo del gioco",
    paragraphs: [
      "Ogni giocatore costruisce una torre su un tappetino di tre caselle per tre. Nel mucchio ci sono 45 blocchi di legno, da uno a sei cubi; dei più grandi ogni forma c’è una volta sola.",
      "La partita finisce quando il mucchio è vuoto. Allora vince la torre più alta.",
    ],
    figure: "blocks",
  },
  {
    id: "turn",
    title: "Il tuo turno",
    paragraphs: [
      "Tiri il dado. Dice di quanti cubi è il tuo blocco. Se nel mucchio non ce n’è di quella misura, vale la misura subito più piccola.",
      "Il vicino alla tua sinistra sceglie per te uno dei blocchi di quella misura. Aspettatene uno scomodo. Poi lo posi e tocca al giocatore successivo.",
    ],
  },
  {
    id: "placing",
    title: "Posare un blocco",
    paragraphs: [
      "Gira il blocco come vuoi, scegli una colonna e lascialo scendere. Scende in verticale finché incontra la torre o il tappetino. Non si può infilare di lato, e i blocchi posati non si muovono più.",
      "Al primo livello i blocchi devono stare dentro il tappetino. Più in alto possono sporgere quanto osi.",
    ],
    figure: "placing",
  },
  {
    id: "standing",
    title: "Reggerà?",
    paragraphs: [
      "Il gioco mostra dove poggerà un blocco, ma mai se reggerà. Questo lo giudichi tu. I blocchi sono liberi, senza colla, e il tavolo trema un poco in ogni direzione.",
      "Ciò che non può reggere cade e torna nel mucchio, spesso con blocchi posati molto prima. Un palo largo un cubo regge fino a nove livelli; le torri più larghe salgono di più.",
    ],
    figure: "balance",
  },
  {
    id: "returning",
    title: "Restituire un blocco",
    paragraphs: [
      "Puoi restituire il blocco solo se non c’è nessun posto in cui reggerebbe. Chiedi, e il gioco cerca. Se un posto c’è, te lo dice, ma non dove.",
      "Se il tuo tempo scade, anche allora il blocco torna nel mucchio. Se scade quello del vicino, il blocco si sorteggia.",
    ],
  },
  {
    id: "end",
    title: "La fine",
    paragraphs: [
      "L’altezza di una torre è il suo livello più alto con un cubo. Ad altezze uguali la vittoria si condivide.",
      "La partita finisce anche quando per 30 turni di fila il mucchio non è diventato più piccolo che mai, o dopo 120 turni.",
    ],
  },
  {
    id: "ring",
    title: "Variante: l’anello più alto",
    paragraphs: [
      "In questa variante l’altezza non conta. Conta il livello più alto in cui sono piene tutte le otto caselle intorno al centro del tappetino. Il centro può essere vuoto, e anche i livelli sotto.",
    ],
    figure: "ring",
  },
] satisfies RulesText;
