/** The lesson of Five Towers in Dutch. `lessons.py` has the script. */
import type en from "./en";

export default {
  "five_towers.lesson.cards": "Je leert het spel in vijf korte rondes. Er liggen vijf kaarten open. Jij en de bot zeggen hoeveel je ervan zou bouwen. Het hoogste bod wint en bouwt precies zoveel kaarten.",
  "five_towers.lesson.bid": "Jij begint de eerste ronde. Drie van deze kaarten passen goed bij elkaar. Bied {n}.",
  "five_towers.lesson.bid.else": "In een echt spel mag je elk getal bieden dat je kunt bouwen. Deze les gaat verder met {n}.",
  "five_towers.lesson.build": "De bot past, dus jij bouwt 3 kaarten. Elke soort heeft een eigen toren. Een nieuwe kaart moet lager zijn dan de kaart eronder. Kies Boom 11, dan Boom 4, dan Zand 5. Druk daarna op Bouwen.",
  "five_towers.lesson.build.else": "In een echt spel kies je vrij. Deze les gaat verder met de verlichte kaarten.",
  "five_towers.lesson.pass": "Kaarten die geen speler neemt, worden afgelegd. De bot begint deze ronde en biedt 2. Je zou meer moeten bieden, maar deze kaarten helpen je weinig. Druk op Passen.",
  "five_towers.lesson.pass.else": "In een echt spel mag je hoger bieden. In deze ronde pas je en kijk je hoe de bot bouwt.",
  "five_towers.lesson.nine": "De bot heeft 2 kaarten gebouwd. Nu begin jij weer. Kijk naar Boom 9: een 9 mag op elke kaart behalve een 0. Bied {n}.",
  "five_towers.lesson.nine.build": "De bot past. Kies Boom 9: die mag op je 4, ook al is hij hoger. Kies daarna Metaal 10 en druk op Bouwen.",
  "five_towers.lesson.tear": "De bot begint en biedt 1. Biedingen mogen getallen overslaan. Bied {n}.",
  "five_towers.lesson.tear.build": "Zand 7 is te hoog voor je Zand 5. Voor het bouwen mag je een bovenste kaart slopen. Druk op Zand 5 op je toren. Kies daarna Zand 7, Snoep 10 en Boom 1 en druk op Bouwen.",
  "five_towers.lesson.spire": "De gesloopte kaart kost aan het eind 1 punt. De volgende kost 2, dan 3. Kijk nu naar Boom 0: een 0 is een spits. De bot biedt 1. Bied {n}.",
  "five_towers.lesson.spire.build": "Met een spits is de toren af, en elke kaart van die toren telt dubbel. Kies Boom 0 en Zand 1 en druk op Bouwen.",
  "five_towers.lesson.end": "Je hebt 18 punten. Elke kaart in een toren is 1 punt. Een spits geeft elke kaart van haar toren 1 punt extra, en je hoogste toren ook. Een echt spel eindigt als de kaarten twee keer op zijn. Nog één regel: op een 8 mag elke kaart.",
} satisfies Record<keyof typeof en, string>;
