/** Development only: shows the board at any moment of a recorded game, without a server. `?theme=dark&language=de` as you like. */
import { mount } from "svelte";

import "../../src/ui/theme.css";
import game from "../../src/games/five_towers/game";
import { join, preferredLanguage, speak } from "../../src/words/index.svelte";
import Harness from "./Harness.svelte";

const query = new URLSearchParams(location.search);
document.documentElement.dataset["theme"] = query.get("theme") ?? "light";
const language = preferredLanguage([query.get("language") ?? "en"]);
await speak(language);
join(await game.words(language));
mount(Harness, { target: document.getElementById("app")! });
