/** The rules of Nikitin Towers for players, in French: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "But du jeu",
    paragraphs: [
      "Chaque joueur construit une tour sur un tapis de trois cases sur trois. Il y a 45 blocs de bois dans une réserve : des pièces de un à six cubes, et parmi les plus grandes chaque forme n’existe qu’une fois.",
      "La partie s’arrête quand la réserve est vide. La plus haute tour gagne alors.",
    ],
    figure: "blocks",
  },
  {
    id: "turn",
    title: "Ton tour",
    paragraphs: [
      "Tu lances le dé. Il dit combien de cubes a ton bloc. S’il n’en reste aucun de cette taille, on prend la taille juste en dessous.",
      "Ton voisin de gauche choisit pour toi un des blocs de cette taille. Attends-toi à un bloc malcommode. Puis tu le poses, et c’est au joueur suivant.",
    ],
  },
  {
    id: "placing",
    title: "Poser un bloc",
    paragraphs: [
      "Tourne le bloc comme tu veux, choisis une colonne et laisse-le descendre. Il descend tout droit jusqu’à la tour ou au tapis. On ne peut pas le glisser par le côté, et les blocs posés ne bougent plus jamais.",
      "Au premier niveau, les blocs doivent rester sur le tapis. Plus haut, ils peuvent dépasser autant que tu l’oses.",
    ],
    figure: "placing",
  },
  {
    id: "standing",
    title: "Est-ce que ça tient ?",
    paragraphs: [
      "Le jeu montre où un bloc va reposer, mais jamais s’il va tenir. À toi d’en juger. Les blocs sont posés sans colle, et la table tremble un peu dans toutes les directions.",
      "Ce qui ne peut pas tenir tombe et retourne à la réserve, souvent avec des blocs posés bien avant. Un poteau large d’un cube tient jusqu’à neuf niveaux ; les tours plus larges montent plus haut.",
    ],
    figure: "balance",
  },
  {
    id: "returning",
    title: "Rendre un bloc",
    paragraphs: [
      "Tu ne peux rendre le bloc que s’il n’existe aucune place où il tiendrait. Demande, et le jeu cherche. S’il y a une place, il te le dit, mais pas où.",
      "Si ton temps est écoulé, le bloc retourne aussi à la réserve. Si c’est celui du voisin, le bloc est tiré au sort.",
    ],
  },
  {
    id: "end",
    title: "La fin",
    paragraphs: [
      "La hauteur d’une tour est son plus haut niveau où se trouve un cube. À hauteur égale, la victoire est partagée.",
      "La partie s’arrête aussi quand, 30 tours de suite, la réserve n’a pas été plus petite que jamais, ou après 120 tours.",
    ],
  },
  {
    id: "ring",
    title: "Variante : le plus haut anneau",
    paragraphs: [
      "Dans cette variante, la hauteur ne compte pas. Le plus haut niveau où les huit cases autour du centre du tapis sont remplies gagne. Le centre peut être vide, et les niveaux du dessous aussi.",
    ],
    figure: "ring",
  },
] satisfies RulesText;
