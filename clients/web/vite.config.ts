import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/** What the hall and every other part need is one file, or each shared widget would be a request of its own. */
const shared = { name: "base", minShareCount: 2, test: /node_modules|src\/(?:ui|app|lobby|room)\/|src\/words\/(?:en|index)|typescript\/src\// };

// The server's content security policy allows files of our own only: nothing is inlined.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false }, output: { codeSplitting: { groups: [shared] } } },
  },
});
