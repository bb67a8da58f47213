import { defineConfig } from "vite";

// One file at the root, without a hash: browsers look for a new one at the same address. `build.py` says what it keeps.
export default defineConfig({
  publicDir: false,
  define: { FILES: process.env["TOWERHALL_FILES"] ?? "[]", VERSION: JSON.stringify(process.env["TOWERHALL_VERSION"] ?? "") },
  build: {
    target: "es2022",
    emptyOutDir: false,
    reportCompressedSize: false,
    rolldownOptions: { input: "src/away/worker.ts", checks: { pluginTimings: false }, output: { format: "iife", entryFileNames: "sw.js" } },
  },
});
