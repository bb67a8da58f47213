import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Development and tests: `npx vite -c tests/harness/nikitin.vite.config.ts` shows `nikitin.html`.
export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [svelte({ configFile: here("../../svelte.config.js") })],
  build: { target: "es2022", assetsInlineLimit: 0, emptyOutDir: true, chunkSizeWarningLimit: 700, rolldownOptions: { input: here("nikitin.html") } },
});
