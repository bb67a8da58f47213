/** The lesson of Nikitin Towers in English. `lessons.py` has the script. */
import type { Text } from "../../../words/en";

export default {
  "nikitin_towers.lesson.die": "You learn the game in five short rounds. Every player builds one tower on a mat of three by three cells. The tallest tower wins. You rolled a 6, so your block has six cubes. The bot is your neighbour and chooses the block for you.",
  "nikitin_towers.lesson.place": "The bot gave you the slab. It stands on its edge. Press the right turning button (key {key}): now it lies flat. The arrows would move it, and you may also drag it. On the first level a block must lie on the mat. Press Place.",
  "nikitin_towers.lesson.place.else": "In a real game you may place it there. This lesson needs another place. Follow the text, or press Show me.",
  "nikitin_towers.lesson.choose": "Now the bot builds, and you choose its block. The die shows 5. In a real game you choose among all blocks of that size. Take an awkward one: give the W.",
  "nikitin_towers.lesson.choose.else": "This lesson goes on with the block that is shown.",
  "nikitin_towers.lesson.tip": "You rolled a 3 and got a bar. It would lie flat on your slab. Make it stand: press the middle turning button (key {key}), then Place.",
  "nikitin_towers.lesson.reply": "Your tower has four levels now. The bot rolled a 5. Give it the plus.",
  "nikitin_towers.lesson.move": "You got a square. Move it to the right (→). There it would rest on top of the bar, and fall: the game shows where a block rests, but never whether it stands. Move it to the right again (→), then press Place.",
  "nikitin_towers.lesson.risk": "The bot rolled a 3. Give it a bar, and watch.",
  "nikitin_towers.lesson.crash": "Crash. The bot let the bar stick out too far. The bar fell and took another block with it. Fallen blocks go back to the pile.",
  "nikitin_towers.lesson.pole": "You got a second bar. Move it to the right (→), then press the middle turning button (key {key}), so that it stands on the first bar. Press Place.",
  "nikitin_towers.lesson.awkward": "Your tower has seven levels. The bot rolled a 5. Give it the T with a knob.",
  "nikitin_towers.lesson.crown": "You got the last bar. Move it to the right (→). Do not make it stand this time: a pole that is one cube wide falls when it gets too high. Flat it lies in balance. Press Place.",
  "nikitin_towers.lesson.end": "Your tower has eight levels, and the bot’s has three. A game ends when the pile is empty. If a block would stand nowhere, you may give it back. Now you know the rules.",
} as const satisfies Record<string, Text>;
