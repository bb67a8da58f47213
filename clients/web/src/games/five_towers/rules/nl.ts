/** The rules of Five Towers for players, in Dutch. */
import type { RulesText } from "../..";

export default [
  {
    id: "goal",
    title: "Doel van het spel",
    paragraphs: [
      "Iedereen bouwt tot vijf torens, van elke soort één: Snoep, Griezel, Boom, Metaal en Zand. In elke ronde liggen er tot vijf kaarten open, en je zegt hoeveel je er zou bouwen. Wie het meeste zegt, moet er precies zoveel bouwen.",
      "Kaarten zijn punten, torens met een spits tellen dubbel, en wat je sloopt kost steeds meer.",
    ],
    figure: "kinds",
  },
  {
    id: "auction",
    title: "De veiling",
    paragraphs: [
      "De startspeler noemt als eerste een getal, van 0 tot het aantal open kaarten. Daarna is iedereen om de beurt één keer aan zet en noemt een hoger getal of past. Je mag getallen overslaan.",
      "Wie alle open kaarten noemt, beëindigt de veiling meteen. Gaat niemand boven 0, dan worden alle kaarten afgelegd en begint dezelfde speler opnieuw. Anders begint de volgende ronde bij wie links van de bouwer zit.",
      "Je mag alleen zeggen wat je kunt bouwen. Hoe dat gecontroleerd wordt, hangt af van de regels die voor de kamer zijn gekozen.",
    ],
    figure: "auction",
  },
  {
    id: "building",
    title: "Bouwen",
    paragraphs: [
      "Neem precies zoveel open kaarten als je geboden hebt en leg ze, in de volgorde die je wilt, op je toren van dezelfde soort. Elke kaart mag een toren beginnen.",
      "Elke kaart moet lager zijn dan de kaart waar hij op komt. Gaten zijn niet erg, gelijk is niet lager.",
    ],
    figure: "falling",
  },
  {
    id: "special",
    title: "De 8, de 9 en de spits",
    paragraphs: [
      "Op een 8 mag je alles leggen, zodat een toren weer hoog kan beginnen. De 8 zelf moet lager zijn dan de kaart waar hij op komt.",
      "Een 9 mag op elke kaart behalve een spits. Wat volgt, moet lager zijn dan 9.",
      "Een 0 is een spits. Daarmee is de toren af: er mag niets meer op.",
    ],
    figure: "special",
  },
  {
    id: "demolishing",
    title: "Slopen",
    paragraphs: [
      "Voordat je bouwt mag je, als je wilt, de bovenste kaart van een van je torens slopen. Die is uit het spel en komt op je stapel gesloopte kaarten. Spitsen blijven staan.",
      "Aan het eind kost de eerste kaart daar 1 punt, de tweede 2 extra, de derde 3 extra, enzovoort.",
    ],
    figure: "demolishing",
  },
  {
    id: "end",
    title: "Einde en punten",
    paragraphs: [
      "Wat niemand nam, wordt afgelegd. Is de stapel op, dan worden de afgelegde kaarten één keer geschud en opnieuw gespeeld. Zijn die ook op, dan eindigt het spel na die ronde.",
      "Elke kaart in een toren is 1 punt. In torens met een spits is elke kaart 1 punt meer. In je hoogste toren is elke kaart 1 punt meer. Trek daarvan af wat je gesloopte kaarten kosten. Het hoogste totaal wint; bij gelijke stand deel je de winst.",
    ],
    figure: "scoring",
  },
  {
    id: "variants",
    title: "Varianten",
    paragraphs: [
      "Standaard: een bod dat je niet zou kunnen bouwen, wordt meteen geweigerd.",
      "Zoals gedrukt: niemand controleert een bod tot het wint. Is het niet te bouwen, dan wordt het teruggenomen; wie het deed moet minder noemen, en de veiling gaat vandaar verder.",
      "Spaans: zoals gedrukt, maar een 8 mag op elke kaart, zelfs op een spits, en er mogen alleen lagere kaarten of een 9 op. Een toren met ergens een spits telt dubbel. Elke bovenste kaart mag gesloopt worden, ook een spits.",
    ],
  },
] satisfies RulesText;
