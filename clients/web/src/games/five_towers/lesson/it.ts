/** The lesson of Five Towers in Italian. `lessons.py` has the script. */
import type en from "./en";

export default {
  "five_towers.lesson.cards": "Impari il gioco in cinque mani brevi. Cinque carte sono scoperte. Tu e il bot dite quante ne costruireste. Vince l’offerta più alta, che costruisce esattamente quel numero di carte.",
  "five_towers.lesson.bid": "Cominci tu la prima mano. Tre di queste carte stanno bene insieme. Offri {n}.",
  "five_towers.lesson.bid.else": "In una partita vera puoi offrire qualsiasi numero che puoi costruire. Questa lezione continua con {n}.",
  "five_towers.lesson.build": "Il bot passa, quindi costruisci 3 carte. Ogni tipo ha la sua torre. Una nuova carta deve essere più bassa della carta sotto. Scegli Albero 11, poi Albero 4, poi Sabbia 5. Poi premi Costruisci.",
  "five_towers.lesson.build.else": "In una partita vera scegli liberamente. Questa lezione continua con le carte illuminate.",
  "five_towers.lesson.pass": "Le carte che nessun giocatore prende vengono scartate. Il bot comincia questa mano e offre 2. Dovresti offrire di più, ma queste carte ti aiutano poco. Premi Passa.",
  "five_towers.lesson.pass.else": "In una partita vera puoi offrire di più. In questa mano passi e guardi il bot costruire.",
  "five_towers.lesson.nine": "Il bot ha costruito 2 carte. Ora ricominci tu. Guarda Albero 9: un 9 va su ogni carta tranne uno 0. Offri {n}.",
  "five_towers.lesson.nine.build": "Il bot passa. Scegli Albero 9: va sul tuo 4 anche se è più alto. Poi scegli Metallo 10 e premi Costruisci.",
  "five_towers.lesson.tear": "Il bot comincia e offre 1. Le offerte possono saltare numeri. Offri {n}.",
  "five_towers.lesson.tear.build": "Sabbia 7 è troppo alta per la tua Sabbia 5. Prima di costruire puoi demolire una carta in cima. Premi Sabbia 5 sulla tua torre. Poi scegli Sabbia 7, Caramella 10 e Albero 1, e premi Costruisci.",
  "five_towers.lesson.spire": "La carta demolita costa 1 punto alla fine. La prossima costerà 2, poi 3. Ora guarda Albero 0: uno 0 è una guglia. Il bot offre 1. Offri {n}.",
  "five_towers.lesson.spire.build": "Una guglia completa la sua torre, e ogni carta di quella torre vale doppio. Scegli Albero 0 e Sabbia 1, poi premi Costruisci.",
  "five_towers.lesson.end": "Hai 18 punti. Ogni carta in una torre è 1 punto. Una guglia dà 1 punto in più a ogni carta della sua torre, e così la tua torre più alta. Una partita vera finisce quando le carte sono state usate due volte. Un’ultima regola: su un 8 va qualsiasi carta.",
} satisfies Record<keyof typeof en, string>;
