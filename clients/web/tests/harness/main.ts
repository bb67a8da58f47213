/** Development only: shows the board at any moment of a recorded game, without a server. */
import { mount } from "svelte";

import "../../src/ui/theme.css";
import { join } from "../../src/words/index.svelte";
import five from "../../src/games/five_towers/words/en";
import Harness from "./Harness.svelte";

const query = new URLSearchParams(location.search);
document.documentElement.dataset["theme"] = query.get("theme") ?? "light";
join(five);
mount(Harness, { target: document.getElementById("app")! });
