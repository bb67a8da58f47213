/** Being told while away, in French. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "away.switch": "Me prévenir quand c’est à moi de jouer, même si la page est fermée",
  "away.switch.about": "Aussi pour les invitations et la fin de tes parties. Les messages passent par le service push de ton navigateur, qui ne peut pas les lire.",
  "away.done": "Cet appareil est prévenu à partir de maintenant.",
  "away.failed": "Le service push de ce navigateur ne répond pas. Réessaie plus tard.",
  "away.impossible": "Ce navigateur ne peut pas montrer de messages quand la page est fermée.",
  "away.install": "Sur un iPhone ou un iPad, ajoute d’abord cette page à l’écran d’accueil et ouvre-la de là.",
  "away.offer": "Veux-tu être prévenu quand c’est à toi de jouer, même si la page est fermée ?",
  "away.offer.no": "Non merci",
  "away.offer.yes": "Oui, avec plaisir",
  "away.offline": "Tu es hors ligne. Les parties continuent à ton retour. Tu peux regarder les enregistrements de cet appareil.",
  "away.records": "Enregistrements sur cet appareil",
  "away.turn.title": "{game} : à toi de jouer",
  "away.invited.title": "{game} : tu as une invitation",
  "away.ended.title": "{game} : la partie est finie",
  "away.with": "Salle {room}, avec {names}",
  "away.room": "Salle {room}",
  "away.invited.text": "{names} t’invite dans la salle {room}",
  "away.ended.text": "Place {place} dans la salle {room}, avec {names}",
} satisfies Record<keyof typeof en, Text>;
