/** Being told while away, in Dutch. */
import type { Text } from "../../words/en";
import type en from "./en";

export default {
  "away.switch": "Laat me weten wanneer ik aan de beurt ben, ook als de pagina dicht is",
  "away.switch.about": "Ook bij uitnodigingen en als een spel van jou is afgelopen. De berichten komen via de pushdienst van je browser, die ze niet kan lezen.",
  "away.done": "Dit apparaat krijgt vanaf nu berichten.",
  "away.failed": "De pushdienst van deze browser antwoordt niet. Probeer het later nog eens.",
  "away.impossible": "Deze browser kan geen berichten tonen als de pagina dicht is.",
  "away.install": "Zet deze pagina op een iPhone of iPad eerst op het beginscherm en open haar daar.",
  "away.offer": "Zullen we je laten weten wanneer je aan de beurt bent, ook als de pagina dicht is?",
  "away.offer.no": "Nee, bedankt",
  "away.offer.yes": "Ja, graag",
  "away.offline": "Je bent offline. Spellen gaan verder als je terug bent. De opnames op dit apparaat kun je bekijken.",
  "away.records": "Opnames op dit apparaat",
  "away.turn.title": "{game}: jij bent aan de beurt",
  "away.invited.title": "{game}: je bent uitgenodigd",
  "away.ended.title": "{game}: het spel is afgelopen",
  "away.with": "Kamer {room}, met {names}",
  "away.room": "Kamer {room}",
  "away.invited.text": "{names} nodigt je uit in kamer {room}",
  "away.ended.text": "Plaats {place} in kamer {room}, met {names}",
} satisfies Record<keyof typeof en, Text>;
