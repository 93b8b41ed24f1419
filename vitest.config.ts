import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Files share two cores with the worker processes that they start; more at once only makes them wait.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    server: { deps: { external: [/\/dist\//] } },
  },
});
