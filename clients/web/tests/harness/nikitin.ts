/** Development and tests: shows the board of Nikitin Towers with made-up towers. `?theme=dark&language=de` as you like. */
import { mount } from "svelte";

import "../../src/ui/theme.css";
import game from "../../src/games/nikitin_towers/game";
import { settings } from "../../src/app/settings.svelte";
import { join, preferredLanguage, speak } from "../../src/words/index.svelte";
import NikitinHarness from "./NikitinHarness.svelte";

const query = new URLSearchParams(location.search);
const theme = query.get("theme") === "dark" ? "dark" : "light";
settings.change({ theme, lessMotion: query.has("calm") });
const language = preferredLanguage([query.get("language") ?? "en"]);
await speak(language);
join(await game.words(language));
mount(NikitinHarness, { target: document.getElementById("app")! });
