/** The lesson of Five Towers in German. `lessons.py` has the script. */
import type en from "./en";

export default {
  "five_towers.lesson.cards": "Du lernst das Spiel in fünf kurzen Runden. Fünf Karten liegen offen. Du und der Bot sagt, wie viele davon ihr bauen würdet. Das höhere Gebot gewinnt und baut genau so viele Karten.",
  "five_towers.lesson.bid": "Du beginnst die erste Runde. Drei dieser Karten passen gut zusammen. Biete {n}.",
  "five_towers.lesson.bid.else": "In einem echten Spiel darfst du jede Zahl bieten, die du bauen kannst. Diese Lektion geht mit {n} weiter.",
  "five_towers.lesson.build": "Der Bot passt, also baust du 3 Karten. Jede Sorte hat ihren eigenen Turm. Eine neue Karte muss niedriger sein als die Karte darunter. Wähle Baum 11, dann Baum 4, dann Sand 5. Drücke dann Bauen.",
  "five_towers.lesson.build.else": "In einem echten Spiel wählst du frei. Diese Lektion geht mit den leuchtenden Karten weiter.",
  "five_towers.lesson.pass": "Karten, die kein Spieler nimmt, werden abgelegt. Der Bot beginnt diese Runde und bietet 2. Du müsstest mehr bieten, aber diese Karten helfen dir wenig. Drücke Passen.",
  "five_towers.lesson.pass.else": "In einem echten Spiel darfst du höher bieten. In dieser Runde passt du und siehst dem Bot beim Bauen zu.",
  "five_towers.lesson.nine": "Der Bot hat 2 Karten gebaut. Jetzt beginnst du wieder. Sieh dir Baum 9 an: Eine 9 darf auf jede Karte außer auf eine 0. Biete {n}.",
  "five_towers.lesson.nine.build": "Der Bot passt. Wähle Baum 9: Die Karte darf auf deine 4, obwohl sie höher ist. Wähle dann Metall 10 und drücke Bauen.",
  "five_towers.lesson.tear": "Der Bot beginnt und bietet 1. Gebote dürfen Zahlen überspringen. Biete {n}.",
  "five_towers.lesson.tear.build": "Sand 7 ist zu hoch für dein Sand 5. Vor dem Bauen darfst du eine oberste Karte abreißen. Drücke auf Sand 5 auf deinem Turm. Wähle dann Sand 7, Zucker 10 und Baum 1 und drücke Bauen.",
  "five_towers.lesson.spire": "Die abgerissene Karte kostet am Ende 1 Punkt. Die nächste kostet 2, dann 3. Sieh dir jetzt Baum 0 an: Eine 0 ist eine Spitze. Der Bot bietet 1. Biete {n}.",
  "five_towers.lesson.spire.build": "Eine Spitze vollendet ihren Turm, und jede Karte dieses Turms zählt doppelt. Wähle Baum 0 und Sand 1 und drücke dann Bauen.",
  "five_towers.lesson.end": "Du hast 18 Punkte. Jede Karte in einem Turm ist 1 Punkt. Eine Spitze gibt jeder Karte ihres Turms 1 Punkt mehr, und dein höchster Turm auch. Ein echtes Spiel endet, wenn die Karten zweimal verbraucht sind. Noch eine Regel: Auf eine 8 darf jede Karte.",
} satisfies Record<keyof typeof en, string>;
