import { defineConfig } from "vitest/config";

// Whatever settings the developer has for own programs, here the defaults are in force.
for (const name of Object.keys(process.env)) {
  if (name.startsWith("SPILLWAY_") && !name.startsWith("SPILLWAY_TEST_")) delete process.env[name];
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Files share two cores with the worker processes that they start; more at once only makes them wait.
    maxWorkers: 2,
    // Test files run beside each other: each session is to have what it would have alone.
    env: { SPILLWAY_CONFIG: "/dev/null", SPILLWAY_SHARE_NODE: "false" },
    // The slowest have a quarter of a minute; a machine that does other things besides takes ten times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What is waited for comes sooner; on a machine that has other things to do it may take seconds.
    expect: { poll: { timeout: 20_000 } },
    server: { deps: { external: [/\/dist\//] } },
  },
});
