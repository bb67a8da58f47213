/** Starts the page. Nothing here waits for the network but the words of another language than English. */
import { mount } from "svelte";

import App from "./App.svelte";
import { settings } from "./app/settings.svelte";
import "./ui/theme.css";
import { speak } from "./words/index.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("the document has no place for the page");
try {
  await speak(settings.language);
} catch {
  // The catalogue did not load: English is built in.
}
target.replaceChildren();
mount(App, { target });

// Last of all: nothing of the page waits for it.
const idle = globalThis.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 1000));
idle(() => void import("./away/start").then(({ start }) => start()).catch(() => undefined));
