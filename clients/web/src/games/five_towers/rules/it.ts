/** The rules of Five Towers for players, in Italian. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Scopo del gioco",
    paragraphs: [
      "Ogni giocatore costruisce fino a cinque torri, una per tipo: Caramella, Fantasma, Albero, Metallo e Sabbia. In ogni mano ci sono fino a cinque carte scoperte, e dici quante ne costruiresti. Chi dice il numero più alto deve costruirne esattamente tante.",
      "Le carte sono punti, le torri con guglia valgono doppio, e ciò che demolisci costa sempre di più.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "L’asta",
    paragraphs: [
      "Il primo giocatore dice per primo un numero, da 0 fino al numero di carte scoperte. Poi ognuno a turno, una volta sola, dice un numero più alto o passa. Si possono saltare numeri.",
      "Chi dice tutte le carte scoperte chiude subito l’asta. Se nessuno supera 0, tutte le carte vengono scartate e ricomincia lo stesso giocatore. Altrimenti la mano seguente la apre chi siede alla sinistra di chi ha costruito.",
      "Puoi dire solo quanto puoi costruire. Come si controlla dipende dalle regole scelte per la stanza.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Costruire",
    paragraphs: [
      "Prendi esattamente tante carte scoperte quante ne hai offerte e mettile, nell’ordine che vuoi, sulla tua torre dello stesso tipo. Qualsiasi carta può iniziare una torre.",
      "Ogni carta deve essere più bassa di quella su cui la metti. I salti non contano; uguale non è più bassa.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "L’8, il 9 e la guglia",
    paragraphs: [
      "Su un 8 puoi mettere qualsiasi carta, così una torre può ripartire dall’alto. L’8 stesso deve essere più basso della carta su cui lo metti.",
      "Un 9 va su ogni carta tranne una guglia. Ciò che segue deve essere più basso di 9.",
      "Uno 0 è una guglia. Completa la torre: sopra non può andarci nulla.",
    ],
    figure: "special",
  },
  {
    id: "demolishing",
    title: "Demolire",
    paragraphs: [
      "Prima di costruire puoi, se vuoi, demolire la carta in cima a una delle tue torri. Esce dal gioco e va nella tua pila di carte demolite. Le guglie restano.",
      "Alla fine la prima carta della pila costa 1 punto, la seconda altri 2, la terza altri 3, e così via.",
    ],
    figure: "demolishing",
  },
  {
    id: "end",
    title: "Fine e punti",
    paragraphs: [
      "Ciò che nessuno ha preso viene scartato. Quando il mazzo è finito, gli scarti si mescolano una volta e si giocano di nuovo. Quando finiscono anche quelli, la partita termina dopo quella mano.",
      "Ogni carta in una torre vale 1 punto. Nelle torri con guglia ogni carta vale 1 punto in più. Nella tua torre più alta ogni carta vale 1 punto in più. Poi togli quanto costano le tue carte demolite. Vince il totale più alto; in caso di parità la vittoria è condivisa.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Varianti",
    paragraphs: [
      "Ufficiali: un’offerta che non potresti costruire viene rifiutata subito.",
      "Come stampate: nessuno controlla un’offerta finché non vince. Se non si può costruire, viene ritirata, chi l’ha fatta deve dire meno, e l’asta continua da lì.",
      "Spagnole: come stampate, ma un 8 va su ogni carta, anche su una guglia, e sopra ci vanno solo carte più basse o un 9. Una torre con una guglia in qualsiasi punto vale doppio. Ogni cima si può demolire, anche una guglia.",
    ],
  },
] satisfies RulesText;
