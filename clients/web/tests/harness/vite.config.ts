import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Development only: `npx vite -c tests/harness/vite.config.ts` shows the board at any moment of a recorded game.
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [svelte({ configFile: fileURLToPath(new URL("../../svelte.config.js", import.meta.url)) })],
  build: { target: "es2022", assetsInlineLimit: 0, emptyOutDir: true },
});
