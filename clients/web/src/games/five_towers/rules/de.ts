/** The rules of Five Towers for players, in German. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Ziel des Spiels",
    paragraphs: [
      "Jeder baut bis zu fünf Türme, einen von jeder Sorte: Zucker, Geister, Baum, Metall und Sand. In jeder Runde liegen bis zu fünf Karten offen, und du sagst an, wie viele davon du bauen würdest. Wer am meisten ansagt, muss genau so viele bauen.",
      "Karten sind Punkte, Türme mit Spitze zählen doppelt, und was du abreißt, kostet immer mehr.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "Die Versteigerung",
    paragraphs: [
      "Der Startspieler nennt als Erster eine Zahl, von 0 bis zur Anzahl der offenen Karten. Dann ist reihum jeder einmal dran und nennt eine höhere Zahl oder passt. Zahlen dürfen übersprungen werden.",
      "Wer alle offenen Karten ansagt, beendet die Versteigerung sofort. Geht niemand über 0, werden alle Karten abgelegt, und derselbe Spieler fängt noch einmal an. Sonst beginnt die nächste Runde, wer links vom Bauenden sitzt.",
      "Du darfst nur ansagen, was du bauen kannst. Wie das geprüft wird, hängt von den Regeln ab, die für den Raum gewählt wurden.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Bauen",
    paragraphs: [
      "Nimm genau so viele offene Karten, wie du geboten hast, und lege sie in beliebiger Reihenfolge auf deinen Turm derselben Sorte. Jede Karte darf einen Turm beginnen.",
      "Jede Karte muss niedriger sein als die, auf die sie gelegt wird. Lücken machen nichts, gleich ist nicht niedriger.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "Die 8, die 9 und die Spitze",
    paragraphs: [
      "Auf eine 8 darfst du alles legen; so kann ein Turm noch einmal hoch beginnen. Die 8 selbst muss niedriger sein als die Karte, auf die sie gelegt wird.",
      "Eine 9 darf auf jede Karte außer auf eine Spitze. Was darauf folgt, muss niedriger als 9 sein.",
      "Eine 0 ist eine Spitze. Sie vollendet den Turm: Auf ihr darf nichts liegen.",
    ],
    figure: "special",
  },
  {
    id: "demolishing",
    title: "Abreißen",
    paragraphs: [
      "Bevor du baust, darfst du die oberste Karte eines deiner Türme abreißen, wenn du magst. Sie ist aus dem Spiel und kommt auf deinen Abrissstapel. Spitzen bleiben stehen.",
      "Am Ende kostet die erste Karte dort 1 Punkt, die zweite 2 weitere, die dritte 3 weitere und so fort.",
    ],
    figure: "demolishing",
  },
  {
    id: "end",
    title: "Ende und Punkte",
    paragraphs: [
      "Was niemand genommen hat, wird abgelegt. Ist der Stapel aufgebraucht, werden die abgelegten Karten einmal gemischt und noch einmal gespielt. Sind auch sie aufgebraucht, endet das Spiel nach dieser Runde.",
      "Jede Karte in einem Turm ist 1 Punkt. In Türmen mit Spitze ist jede Karte 1 Punkt mehr wert. In deinem höchsten Turm ist jede Karte noch 1 Punkt mehr wert. Zieh davon ab, was deine abgerissenen Karten kosten. Die höchste Summe gewinnt; bei Gleichstand teilt man sich den Sieg.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Varianten",
    paragraphs: [
      "Standard: Ein Gebot, das du nicht bauen könntest, wird sofort abgelehnt.",
      "Wie gedruckt: Niemand prüft ein Gebot, bis es gewinnt. Lässt es sich nicht bauen, wird es zurückgenommen; wer es gemacht hat, muss weniger nennen, und die Versteigerung geht von dort weiter.",
      "Spanisch: wie gedruckt, aber eine 8 darf auf jede Karte gelegt werden, sogar auf eine Spitze, und auf ihr dürfen nur niedrigere Karten oder eine 9 liegen. Ein Turm, in dem irgendwo eine Spitze steckt, zählt doppelt. Jede oberste Karte darf abgerissen werden, auch eine Spitze.",
    ],
  },
] satisfies RulesText;
