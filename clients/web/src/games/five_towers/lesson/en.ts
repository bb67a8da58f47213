/** The lesson of Five Towers in English. `lessons.py` has the script. */
import type { Text } from "../../../words/en";

export default {
  "five_towers.lesson.cards": "You learn the game in five short rounds. Five cards lie open. You and the bot say how many of them you would build. The higher bid wins, and its player builds exactly that many cards.",
  "five_towers.lesson.bid": "You start the first round. Three of these cards fit together well. Bid {n}.",
  "five_towers.lesson.bid.else": "In a real game you may bid any number that you can build. This lesson goes on with {n}.",
  "five_towers.lesson.build": "The bot passes, so you build 3 cards. Each kind has a tower of its own. A new card must be lower than the card below it. Choose Tree 11, then Tree 4, then Sand 5. Then press Build.",
  "five_towers.lesson.build.else": "In a real game you choose freely. This lesson goes on with the cards that are lit.",
  "five_towers.lesson.pass": "Cards that no player takes are discarded. The bot starts this round and bids 2. You would have to bid more, but these cards help you little. Press Pass.",
  "five_towers.lesson.pass.else": "In a real game you may bid higher. In this round you pass and watch the bot build.",
  "five_towers.lesson.nine": "The bot has built 2 cards. Now you start again. Look at Tree 9: a 9 may go on any card but a 0. Bid {n}.",
  "five_towers.lesson.nine.build": "The bot passes. Choose Tree 9: it goes on your 4 although it is higher. Then choose Metal 10 and press Build.",
  "five_towers.lesson.tear": "The bot starts and bids 1. Bids may skip numbers. Bid {n}.",
  "five_towers.lesson.tear.build": "Sand 7 is too high for your Sand 5. Before you build you may tear down one top card. Press Sand 5 on your tower. Then choose Sand 7, Candy 10 and Tree 1, and press Build.",
  "five_towers.lesson.spire": "The card that you tore down costs 1 point at the end. The next one will cost 2, then 3. Now look at Tree 0: a 0 is a spire. The bot bids 1. Bid {n}.",
  "five_towers.lesson.spire.build": "A spire finishes its tower, and each card of that tower counts double. Choose Tree 0 and Sand 1, then press Build.",
  "five_towers.lesson.end": "You have 18 points. Each card in a tower is 1 point. A spire gives each card of its tower 1 more, and so does your tallest tower. A real game ends when the cards have been used up twice. One more rule: any card may go on an 8.",
} as const satisfies Record<string, Text>;
