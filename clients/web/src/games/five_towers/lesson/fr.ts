/** The lesson of Five Towers in French. `lessons.py` has the script. */
import type en from "./en";

export default {
  "five_towers.lesson.cards": "Tu apprends le jeu en cinq manches courtes. Cinq cartes sont visibles. Le bot et toi dites combien vous en construiriez. L’annonce la plus haute gagne et construit exactement ce nombre de cartes.",
  "five_towers.lesson.bid": "Tu commences la première manche. Trois de ces cartes vont bien ensemble. Annonce {n}.",
  "five_towers.lesson.bid.else": "Dans une vraie partie, tu peux annoncer tout nombre que tu peux construire. Cette leçon continue avec {n}.",
  "five_towers.lesson.build": "Le bot passe, donc tu construis 3 cartes. Chaque sorte a sa propre tour. Une nouvelle carte doit être plus petite que la carte du dessous. Choisis Arbre 11, puis Arbre 4, puis Sable 5. Appuie ensuite sur Construire.",
  "five_towers.lesson.build.else": "Dans une vraie partie, tu choisis librement. Cette leçon continue avec les cartes éclairées.",
  "five_towers.lesson.pass": "Les cartes qu’aucun joueur ne prend sont défaussées. Le bot commence cette manche et annonce 2. Il te faudrait annoncer plus, mais ces cartes t’aident peu. Appuie sur Passer.",
  "five_towers.lesson.pass.else": "Dans une vraie partie, tu peux annoncer plus. Dans cette manche, tu passes et tu regardes le bot construire.",
  "five_towers.lesson.nine": "Le bot a construit 2 cartes. Tu commences de nouveau. Regarde Arbre 9, car un 9 se pose sur toute carte sauf un 0. Annonce {n}.",
  "five_towers.lesson.nine.build": "Le bot passe. Choisis Arbre 9, qui va sur ton 4 bien qu’il soit plus grand. Choisis ensuite Métal 10 et appuie sur Construire.",
  "five_towers.lesson.tear": "Le bot commence et annonce 1. On peut sauter des nombres. Annonce {n}.",
  "five_towers.lesson.tear.build": "Sable 7 est trop grand pour ton Sable 5. Avant de construire, tu peux démolir une carte du dessus. Appuie sur Sable 5 sur ta tour. Choisis ensuite Sable 7, Bonbon 10 et Arbre 1, et appuie sur Construire.",
  "five_towers.lesson.spire": "La carte démolie coûte 1 point à la fin. La suivante coûtera 2, puis 3. Regarde maintenant Arbre 0, car un 0 est une flèche. Le bot annonce 1. Annonce {n}.",
  "five_towers.lesson.spire.build": "Une flèche achève sa tour, et chaque carte de cette tour compte double. Choisis Arbre 0 et Sable 1, puis appuie sur Construire.",
  "five_towers.lesson.end": "Tu as 18 points. Chaque carte d’une tour vaut 1 point. Une flèche donne 1 point de plus à chaque carte de sa tour, et ta plus haute tour aussi. Une vraie partie finit quand les cartes ont servi deux fois. Une dernière règle, toute carte peut aller sur un 8.",
} satisfies Record<keyof typeof en, string>;
