/** The lesson of Nikitin Towers in German. `lessons.py` has the script. */
import type en from "./en";

export default {
  "nikitin_towers.lesson.die": "Du lernst das Spiel in fünf kurzen Runden. Jeder Spieler baut einen Turm auf einer Matte mit drei mal drei Feldern. Der höchste Turm gewinnt. Du hast eine 6 gewürfelt, also hat dein Klotz sechs Würfel. Der Bot ist dein Nachbar und wählt den Klotz für dich.",
  "nikitin_towers.lesson.place": "Der Bot hat dir die Platte gegeben. Sie steht auf der Kante. Drücke den rechten Drehknopf (Taste {key}): Jetzt liegt sie flach. Die Pfeile bewegen sie, und du kannst sie auch ziehen. Auf der ersten Ebene muss ein Klotz auf der Matte liegen. Drücke Legen.",
  "nikitin_towers.lesson.place.else": "In einem echten Spiel darfst du ihn dort hinlegen. Diese Lektion braucht einen anderen Platz. Folge dem Text oder drücke Zeig es mir.",
  "nikitin_towers.lesson.choose": "Jetzt baut der Bot, und du wählst seinen Klotz. Der Würfel zeigt 5. In einem echten Spiel wählst du unter allen Klötzen dieser Größe. Nimm einen sperrigen: Gib das W.",
  "nikitin_towers.lesson.choose.else": "Diese Lektion geht mit dem gezeigten Klotz weiter.",
  "nikitin_towers.lesson.tip": "Du hast eine 3 gewürfelt und eine Stange bekommen. Sie würde flach auf deiner Platte liegen. Stelle sie auf: Drücke den mittleren Drehknopf (Taste {key}), dann Legen.",
  "nikitin_towers.lesson.reply": "Dein Turm hat jetzt vier Ebenen. Der Bot hat eine 5 gewürfelt. Gib ihm das Kreuz.",
  "nikitin_towers.lesson.move": "Du hast ein Quadrat bekommen. Schiebe es nach rechts (→). Dort läge es oben auf der Stange und würde fallen: Das Spiel zeigt, wo ein Klotz liegen bleibt, aber nie, ob er hält. Schiebe es noch einmal nach rechts (→) und drücke dann Legen.",
  "nikitin_towers.lesson.risk": "Der Bot hat eine 3 gewürfelt. Gib ihm eine Stange und sieh zu.",
  "nikitin_towers.lesson.crash": "Krach. Der Bot ließ die Stange zu weit hinausragen. Die Stange fiel und riss einen anderen Klotz mit. Gefallene Klötze kommen zurück in den Vorrat.",
  "nikitin_towers.lesson.pole": "Du hast eine zweite Stange bekommen. Schiebe sie nach rechts (→) und drücke dann den mittleren Drehknopf (Taste {key}), damit sie auf der ersten steht. Drücke Legen.",
  "nikitin_towers.lesson.awkward": "Dein Turm hat sieben Ebenen. Der Bot hat eine 5 gewürfelt. Gib ihm das T mit Noppe.",
  "nikitin_towers.lesson.crown": "Du hast die letzte Stange bekommen. Schiebe sie nach rechts (→). Stelle sie diesmal nicht auf: Eine Säule von einem Würfel Breite fällt, wenn sie zu hoch wird. Flach liegt sie im Gleichgewicht. Drücke Legen.",
  "nikitin_towers.lesson.end": "Dein Turm hat acht Ebenen, der des Bots drei. Ein Spiel endet, wenn der Vorrat leer ist. Würde ein Klotz nirgends halten, darfst du ihn zurückgeben. Jetzt kennst du die Regeln.",
} satisfies Record<keyof typeof en, string>;
