/**
 * Other Nodes than the one that runs the tests. On Node 24: a file each of functions, writing, deaths, lifetimes, whole
 * programs, replaced workers, spilling and Arrow files, whole, and what the older Node lacks (zstd, TypeScript without
 * a loader). On Node 22: the shortest of these files. On both: heap profiles. All tests on one of them are `npm test`
 * with that Node first in the path.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";
import { nodeOf, root } from "../support/tools.ts";

const home = temporaryDirectory("nodes");

function run(node: string, args: readonly string[], cwd = root): string {
  // What this vitest sets for its own tests (VITEST, NODE_ENV, …) would reach the inner one.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV|TEST|NODE_OPTIONS)/.test(name));
  try {
    const env = { ...Object.fromEntries(inherited), NO_COLOR: "1", XDG_STATE_HOME: join(home, "state") };
    return execFileSync(node, args, { cwd, env, encoding: "utf8", stdio: "pipe", timeout: 590_000 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`node ${args.join(" ")} failed:\n${stdout ?? ""}${stderr ?? error}`);
  }
}

const vitest = (...args: string[]) => ["node_modules/vitest/vitest.mjs", "run", "--no-file-parallelism", ...args];

const FILES: Readonly<Record<22 | 24, readonly string[]>> = {
  22: ["functions", "write", "replaced-workers", "arrow-files"],
  24: ["functions", "write", "deaths", "lifecycle", "programs", "replaced-workers", "spilling", "arrow-files"],
};

describe.each([22, 24] as const)("[A1] Node %i", (major) => {
  for (const name of FILES[major]) {
    test(`passes the tests of ${name}`, { timeout: 600_000 }, () => {
      expect(run(nodeOf(major), vitest(`test/end-to-end/${name}.test.ts`))).toMatch(/Tests .*\d+ passed/);
    });
  }
});

describe("[A1] Node 24", () => {
  test("passes the tests of zstd, which older ones have not", { timeout: 600_000 }, () => {
    const files = ["store/spill", "store/spill-damage", "arrow/foreign", "end-to-end/bad-input"];
    const printed = run(nodeOf(24), vitest(...files.map((file) => `test/${file}.test.ts`), "-t", "zstd"));
    expect(printed).toMatch(/Test Files .*4 passed/);
    expect(printed).not.toMatch(/failed/);
  });
});

for (const major of [22, 24] as const) {
  // V8's sampler, its heap's figures and the constructors of buffers differ from version to version.
  test(`[M8] Node ${major} profiles a function: lines with its objects and buffers, and names for all other memory`, {
    timeout: 600_000,
  }, () => {
    const printed = run(nodeOf(major), vitest("test/profile/attribution.test.ts", "test/profile/stand-ins.test.ts"));
    expect(printed).toMatch(/Test Files .*2 passed/);
    expect(printed).not.toMatch(/failed|skipped/);
  });

  test(`[A5] Node ${major} runs a program of TypeScript files without a loader`, { timeout: 600_000 }, () => {
    const app = join(home, `app-${major}`);
    mkdirSync(join(app, "node_modules"), { recursive: true });
    symlinkSync(root, join(app, "node_modules/spillway"));
    writeFileSync(join(app, "package.json"), '{ "type": "module" }');
    writeFileSync(join(app, "rate.ts"), "export const scaled = (x: number): number => x * 2;\n");
    writeFileSync(
      join(app, "main.ts"),
      `import { range } from "spillway";
import { scaled } from "./rate.ts";
interface Out { v: number }
const rows = await range(3).map((row): Out => ({ v: scaled(row.id) satisfies number })).takeAll();
console.log(JSON.stringify(rows));
const failing = range(1).map((row): Out => {
  throw new Error("at line 7");
});
await failing.takeAll().catch((error: Error) => console.log(error.message.includes("main.ts:7:9") || error.stack));
`,
    );
    expect(run(nodeOf(major), ["main.ts"], app)).toBe('[{"v":0},{"v":2},{"v":4}]\ntrue\n');
  });
}
