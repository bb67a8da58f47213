/** The rules of Nikitin Towers for players, in German: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Ziel des Spiels",
    paragraphs: [
      "Jeder Spieler baut einen Turm auf einer Matte von drei mal drei Feldern. Im Vorrat liegen 45 Holzklötze aus einem bis sechs Würfelchen; von den größeren gibt es jede Form nur einmal.",
      "Das Spiel endet, wenn der Vorrat leer ist. Dann gewinnt der höchste Turm.",
    ],
    figure: "blocks",
  },
  {
    id: "turn",
    title: "Dein Zug",
    paragraphs: [
      "Du würfelst. Der Würfel sagt, aus wie vielen Würfelchen dein Klotz besteht. Liegt im Vorrat kein Klotz dieser Größe, gilt die nächstkleinere.",
      "Dein linker Nachbar sucht einen der Klötze dieser Größe für dich aus. Rechne mit einem unbequemen. Dann legst du ihn, und der nächste Spieler ist dran.",
    ],
  },
  {
    id: "placing",
    title: "Einen Klotz legen",
    paragraphs: [
      "Dreh den Klotz, wie du willst, wähl eine Säule und lass ihn hinab. Er kommt senkrecht herunter, bis er auf den Turm oder die Matte trifft. Man kann ihn nicht von der Seite hineinschieben, und Klötze, die liegen, werden nie bewegt.",
      "Auf der untersten Ebene müssen Klötze innerhalb der Matte liegen. Weiter oben dürfen sie so weit hinausragen, wie du dich traust.",
    ],
    figure: "placing",
  },
  {
    id: "standing",
    title: "Hält es?",
    paragraphs: [
      "Das Spiel zeigt, wo ein Klotz zu liegen kommt, aber nie, ob er hält. Das musst du selbst beurteilen. Klötze liegen lose, ohne Leim, und der Tisch wackelt ein wenig in jede Richtung.",
      "Was nicht stehen kann, fällt und geht in den Vorrat zurück, oft mit Klötzen, die viel früher gelegt wurden. Eine Säule, die ein Würfelchen breit ist, steht bis zu neun Ebenen hoch; breitere Türme werden höher.",
    ],
    figure: "balance",
  },
  {
    id: "returning",
    title: "Einen Klotz zurückgeben",
    paragraphs: [
      "Nur wenn es gar keinen Platz gibt, an dem der Klotz stehen würde, darfst du ihn zurückgeben. Frag, und das Spiel sucht. Gibt es einen Platz, sagt es dir das, aber nicht, wo.",
      "Läuft deine Zeit ab, geht der Klotz ebenfalls zurück. Läuft die Zeit des Nachbarn ab, wird der Klotz ausgelost.",
    ],
  },
  {
    id: "end",
    title: "Das Ende",
    paragraphs: [
      "Die Höhe eines Turms ist seine höchste Ebene, auf der ein Würfelchen liegt. Gleiche Höhen teilen sich den Sieg.",
      "Das Spiel endet auch, wenn der Vorrat 30 Züge hintereinander nicht kleiner geworden ist als je zuvor, oder nach 120 Zügen.",
    ],
  },
  {
    id: "ring",
    title: "Variante: der höchste Ring",
    paragraphs: [
      "In dieser Variante kommt es nicht auf die Höhe an. Es zählt die höchste Ebene, auf der alle acht Felder um die Mitte der Matte gefüllt sind. Die Mitte darf leer sein, und die Ebenen darunter auch.",
    ],
    figure: "ring",
  },
] satisfies RulesText;
