/** The lesson of Nikitin Towers in Dutch. `lessons.py` has the script. */
import type en from "./en";

export default {
  "nikitin_towers.lesson.die": "Je leert het spel in vijf korte rondes. Elke speler bouwt één toren op een mat van drie bij drie vakjes. De hoogste toren wint. Je gooide een 6, dus je blok heeft zes kubussen. De bot is je buur en kiest het blok voor je.",
  "nikitin_towers.lesson.place": "De bot gaf je de plaat. Ze staat op haar kant. Druk op de rechter draaiknop (toets {key}): nu ligt ze plat. De pijlen verplaatsen haar, en je kunt haar ook slepen. Op het eerste niveau moet een blok op de mat liggen. Druk op Leggen.",
  "nikitin_towers.lesson.place.else": "In een echt spel mag je het daar leggen. Deze les heeft een andere plek nodig. Volg de tekst, of druk op Laat zien.",
  "nikitin_towers.lesson.choose": "Nu bouwt de bot, en jij kiest zijn blok. De dobbelsteen toont 5. In een echt spel kies je uit alle blokken van die grootte. Neem een lastig blok: geef de W.",
  "nikitin_towers.lesson.choose.else": "Deze les gaat verder met het getoonde blok.",
  "nikitin_towers.lesson.tip": "Je gooide een 3 en kreeg een staaf. Die zou plat op je plaat liggen. Zet hem rechtop: druk op de middelste draaiknop (toets {key}), dan op Leggen.",
  "nikitin_towers.lesson.reply": "Je toren heeft nu vier niveaus. De bot gooide een 5. Geef hem het kruis.",
  "nikitin_towers.lesson.move": "Je kreeg een vierkant. Schuif het naar rechts (→). Daar zou het boven op de staaf liggen en vallen: het spel toont waar een blok blijft liggen, maar nooit of het blijft staan. Schuif het nog eens naar rechts (→) en druk op Leggen.",
  "nikitin_towers.lesson.risk": "De bot gooide een 3. Geef hem een staaf en kijk.",
  "nikitin_towers.lesson.crash": "Krak. De bot liet de staaf te ver uitsteken. De staaf viel en nam een ander blok mee. Gevallen blokken gaan terug naar de voorraad.",
  "nikitin_towers.lesson.pole": "Je kreeg een tweede staaf. Schuif hem naar rechts (→) en druk op de middelste draaiknop (toets {key}), zodat hij op de eerste staat. Druk op Leggen.",
  "nikitin_towers.lesson.awkward": "Je toren heeft zeven niveaus. De bot gooide een 5. Geef hem de T met knop.",
  "nikitin_towers.lesson.crown": "Je kreeg de laatste staaf. Schuif hem naar rechts (→). Zet hem nu niet rechtop: een paal van één kubus breed valt als hij te hoog wordt. Plat ligt hij in evenwicht. Druk op Leggen.",
  "nikitin_towers.lesson.end": "Je toren heeft acht niveaus, die van de bot drie. Een spel eindigt als de voorraad leeg is. Zou een blok nergens blijven staan, dan mag je het teruggeven. Nu ken je de regels.",
} satisfies Record<keyof typeof en, string>;
