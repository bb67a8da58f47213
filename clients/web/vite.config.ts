import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** What the hall and every other part need is one file, or each shared widget would be a request of its own. */
const shared = /node_modules|src\/(?:ui|app|lobby|room)\/|src\/words\/(?:en|index|names)|typescript\/src\//;
/** Shared as well, but only by what is opened later: it does not come with the hall. */
const later = /lobby\/RoomForm|room\/(?:NameForm|SeatDialog)|ui\/(?:Confirm|Switch)|typescript\/src\/(?:inclusion|index|signature|stored|verify)/;
const base = { name: "base", minShareCount: 2, test: (id: string) => shared.test(id) && !later.test(id) };

// The server's content security policy allows files of our own only: nothing is inlined.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  // The page is built from the sources of the client: nothing has to be built before it.
  resolve: { alias: { "towerhall-client/json": fileURLToPath(new URL("../typescript/src/json_codec.ts", import.meta.url)), "towerhall-client": fileURLToPath(new URL("../typescript/src/index.ts", import.meta.url)) } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The largest is three.js, which only a board in three dimensions loads.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // The page defines no elements of its own, but the framework's module for them is not left out by itself.
      treeshake: { moduleSideEffects: (id) => !id.endsWith("dom/elements/custom-element.js") },
      output: { codeSplitting: { groups: [base] } },
    },
  },
});
