/** The rules of Nikitin Towers for players, in Dutch: short, by sections. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Doel van het spel",
    paragraphs: [
      "Elke speler bouwt één toren op een mat van drie bij drie vakken. In de voorraad liggen 45 houten blokken van één tot zes blokjes; van de grotere is elke vorm er maar één keer.",
      "Het spel eindigt als de voorraad leeg is. Dan wint de hoogste toren.",
    ],
    figure: "blocks",
  },
  {
    id: "turn",
    title: "Jouw beurt",
    paragraphs: [
      "Je gooit de dobbelsteen. Die zegt uit hoeveel blokjes je blok bestaat. Is er in de voorraad geen blok van die grootte, dan geldt de eerstvolgende kleinere.",
      "Je linkerbuur kiest een van de blokken van die grootte voor je. Reken op een lastig blok. Daarna leg je het, en is de volgende speler aan de beurt.",
    ],
  },
  {
    id: "placing",
    title: "Een blok leggen",
    paragraphs: [
      "Draai het blok zoals je wilt, kies een kolom en laat het zakken. Het komt recht naar beneden tot het de toren of de mat raakt. Je kunt het niet van opzij inschuiven, en blokken die liggen, worden nooit verplaatst.",
      "Op het eerste niveau moeten blokken binnen de mat liggen. Hoger mogen ze zo ver uitsteken als je durft.",
    ],
    figure: "placing",
  },
  {
    id: "standing",
    title: "Blijft het staan?",
    paragraphs: [
      "Het spel laat zien waar een blok komt te liggen, maar nooit of het blijft liggen. Dat beoordeel je zelf. Blokken liggen los, zonder lijm, en de tafel trilt een beetje in elke richting.",
      "Wat niet kan blijven staan, valt en gaat terug naar de voorraad, vaak met blokken die veel eerder gelegd zijn. Een paal van één blokje breed staat tot negen niveaus; bredere torens worden hoger.",
    ],
    figure: "balance",
  },
  {
    id: "returning",
    title: "Een blok teruggeven",
    paragraphs: [
      "Alleen als er geen enkele plek is waar het blok zou blijven staan, mag je het teruggeven. Vraag het, en het spel zoekt. Is er een plek, dan zegt het dat, maar niet waar.",
      "Is je tijd om, dan gaat het blok ook terug. Is de tijd van je buur om, dan wordt het blok geloot.",
    ],
  },
  {
    id: "end",
    title: "Het einde",
    paragraphs: [
      "De hoogte van een toren is het hoogste niveau met een blokje erop. Bij gelijke hoogte wordt de winst gedeeld.",
      "Het spel eindigt ook als de voorraad 30 beurten achter elkaar niet kleiner is geworden dan ooit, of na 120 beurten.",
    ],
  },
  {
    id: "ring",
    title: "Variant: de hoogste ring",
    paragraphs: [
      "In deze variant telt de hoogte niet. Het gaat om het hoogste niveau waarop alle acht vakken rond het midden van de mat gevuld zijn. Het midden mag leeg zijn, en de niveaus eronder ook.",
    ],
    figure: "ring",
  },
] satisfies RulesText;
