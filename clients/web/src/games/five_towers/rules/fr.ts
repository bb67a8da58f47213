/** The rules of Five Towers for players, in French. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "But du jeu",
    paragraphs: [
      "Chaque joueur construit jusqu’à cinq tours, une de chaque sorte : Bonbon, Fantôme, Arbre, Métal et Sable. À chaque manche, jusqu’à cinq cartes sont visibles, et tu annonces combien tu en construirais. Qui annonce le plus doit en construire exactement autant.",
      "Les cartes sont des points, les tours à flèche comptent double, et ce que tu démolis coûte de plus en plus cher.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "Les enchères",
    paragraphs: [
      "Le premier joueur annonce d’abord un nombre, de 0 jusqu’au nombre de cartes visibles. Puis chacun à son tour, une seule fois, annonce un nombre plus grand ou passe. On peut sauter des nombres.",
      "Annoncer toutes les cartes visibles met aussitôt fin aux enchères. Si personne ne dépasse 0, toutes les cartes sont défaussées et le même joueur recommence. Sinon, la manche suivante est ouverte par qui se trouve à gauche du bâtisseur.",
      "Tu ne peux annoncer que ce que tu peux construire. La façon de le vérifier dépend des règles choisies pour le salon.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Construire",
    paragraphs: [
      "Prends exactement autant de cartes visibles que tu en as annoncé et pose-les, dans l’ordre de ton choix, sur ta tour de la même sorte. N’importe quelle carte peut commencer une tour.",
      "Chaque carte doit être plus petite que celle sur laquelle tu la poses. Les trous ne gênent pas ; égale n’est pas plus petite.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "Le 8, le 9 et la flèche",
    paragraphs: [
      "Sur un 8, tu peux poser n’importe quelle carte : la tour peut ainsi repartir de haut. Le 8 lui-même doit être plus petit que la carte sur laquelle tu le poses.",
      "Un 9 se pose sur toute carte sauf une flèche. Ce qui suit doit être plus petit que 9.",
      "Un 0 est une flèche. Il achève la tour : plus rien ne se pose dessus.",
    ],
    figure: "special",
  },
  {
    id: "demolishing",
    title: "Démolir",
    paragraphs: [
      "Avant de construire, tu peux, si tu veux, démolir la carte du sommet d’une de tes tours. Elle quitte le jeu et va sur ton tas de cartes démolies. Les flèches restent.",
      "À la fin, la première carte de ce tas coûte 1 point, la deuxième 2 de plus, la troisième 3 de plus, et ainsi de suite.",
    ],
    figure: "demolishing",
  },
  {
    id: "end",
    title: "Fin et points",
    paragraphs: [
      "Ce que personne n’a pris est défaussé. Quand la pioche est vide, la défausse est mélangée une fois et rejouée. Quand elle est épuisée à son tour, la partie s’arrête après cette manche.",
      "Chaque carte dans une tour vaut 1 point. Dans les tours à flèche, chaque carte vaut 1 point de plus. Dans ta plus haute tour, chaque carte vaut 1 point de plus. Retire ensuite ce que coûtent tes cartes démolies. Le total le plus élevé gagne ; à égalité, la victoire est partagée.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Variantes",
    paragraphs: [
      "Officielles : une annonce que tu ne pourrais pas construire est refusée aussitôt.",
      "Comme imprimé : personne ne vérifie une annonce avant qu’elle gagne. Si elle est impossible à construire, elle est reprise, son auteur doit annoncer moins, et les enchères continuent à partir de là.",
      "Espagnoles : comme imprimé, mais un 8 se pose sur toute carte, même une flèche, et seule une carte plus petite ou un 9 se pose dessus. Une tour avec une flèche n’importe où compte double. Tout sommet peut être démoli, même une flèche.",
    ],
  },
] satisfies RulesText;
