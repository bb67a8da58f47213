/** The words round a lesson in French. */
import type en from "./en";

export default {
  "learn.title": "Apprends {game}",
  "learn.round": "Manche {n} sur {most}",
  "learn.next": "Suivant",
  "learn.show": "Montre-moi",
  "learn.skip": "Sauter la manche",
  "learn.again": "Depuis le début",
  "learn.leave": "Quitter la leçon",
  "learn.play": "Joue ta première partie",
  "learn.rules": "Toutes les règles",
  "learn.missing": "Il n’y a pas de leçon pour ce jeu.",
} satisfies Record<keyof typeof en, string>;
