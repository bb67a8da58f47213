/** The lesson of Nikitin Towers in French. `lessons.py` has the script. */
import type en from "./en";

export default {
  "nikitin_towers.lesson.die": "Tu apprends le jeu en cinq manches courtes. Chaque joueur construit une tour sur un tapis de trois cases sur trois. La plus haute tour gagne. Tu as fait un 6, donc ton bloc a six cubes. Le bot est ton voisin et choisit le bloc pour toi.",
  "nikitin_towers.lesson.place": "Le bot t’a donné la dalle. Elle est sur la tranche. Appuie sur le bouton de rotation de droite (touche {key}) pour la mettre à plat. Les flèches la déplacent, et tu peux aussi la faire glisser. Au premier niveau, un bloc doit reposer sur le tapis. Appuie sur Poser.",
  "nikitin_towers.lesson.place.else": "Dans une vraie partie, tu peux le poser là. Cette leçon demande une autre place. Suis le texte, ou appuie sur Montre-moi.",
  "nikitin_towers.lesson.choose": "Maintenant le bot construit, et tu choisis son bloc. Le dé montre 5. Dans une vraie partie, tu choisis parmi tous les blocs de cette taille. Prends-en un peu commode et donne le W.",
  "nikitin_towers.lesson.choose.else": "Cette leçon continue avec le bloc affiché.",
  "nikitin_towers.lesson.tip": "Tu as fait un 3 et reçu une barre. Elle reposerait à plat sur ta dalle. Mets-la debout avec le bouton de rotation du milieu (touche {key}), puis appuie sur Poser.",
  "nikitin_towers.lesson.reply": "Ta tour a maintenant quatre niveaux. Le bot a fait un 5. Donne-lui la croix.",
  "nikitin_towers.lesson.move": "Tu as reçu un carré. Déplace-le vers la droite (→). Là il reposerait sur la barre et tomberait. Le jeu montre où un bloc repose, mais jamais s’il tient. Déplace-le encore vers la droite (→), puis appuie sur Poser.",
  "nikitin_towers.lesson.risk": "Le bot a fait un 3. Donne-lui une barre et regarde.",
  "nikitin_towers.lesson.crash": "Patatras. Le bot a laissé la barre trop dépasser. La barre est tombée et a entraîné un autre bloc. Les blocs tombés retournent dans la réserve.",
  "nikitin_towers.lesson.pole": "Tu as reçu une deuxième barre. Déplace-la vers la droite (→), puis appuie sur le bouton de rotation du milieu (touche {key}) pour qu’elle tienne debout sur la première. Appuie sur Poser.",
  "nikitin_towers.lesson.awkward": "Ta tour a sept niveaux. Le bot a fait un 5. Donne-lui le T avec bouton.",
  "nikitin_towers.lesson.crown": "Tu as reçu la dernière barre. Déplace-la vers la droite (→). Cette fois, ne la mets pas debout, car un poteau large d’un cube tombe quand il devient trop haut. À plat, elle est en équilibre. Appuie sur Poser.",
  "nikitin_towers.lesson.end": "Ta tour a huit niveaux, et celle du bot en a trois. Une partie finit quand la réserve est vide. Si un bloc ne tiendrait nulle part, tu peux le rendre. Maintenant tu connais les règles.",
} satisfies Record<keyof typeof en, string>;
