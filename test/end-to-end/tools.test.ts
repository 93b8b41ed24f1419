/** The tools that people use around a program: each a small project with the package installed as users get it. */
import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";
import { installInto, nodeOf, packInto, root, toolsOf } from "../support/tools.ts";

const home = temporaryDirectory("tools");
const app = join(home, "app");
const own = join(root, "node_modules");
let packed = "";

beforeAll(() => {
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", type: "module", private: true }));
  packed = packInto(home);
  installInto(app, packed);
  for (const name of ["vitest", "@types", "undici-types"])
    symlinkSync(join(own, name), join(app, "node_modules", name));
}, 360_000);

/** How this machine reaches a registry. */
const NETWORK = /^(npm_config_|https?_proxy$|all_proxy$|no_proxy$|node_extra_ca_certs$|node_use_|ssl_cert_)/i;
const network = Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name)));

/** Runs a program of Node's there, and gives what it printed; an error has what it printed, too. */
function run(
  directory: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
  node = process.execPath,
  timeout = 150_000,
): string {
  const options: ExecFileSyncOptions = {
    cwd: directory,
    encoding: "utf8",
    stdio: "pipe",
    timeout,
    // What the outer vitest sets for its own tests (VITEST, NODE_ENV, …) would reach the inner one.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      ...network,
      ...more,
      CI: "1",
      NO_COLOR: "1",
      XDG_STATE_HOME: join(home, "state"),
      SPILLWAY_CONFIG: "/dev/null",
    },
  };
  try {
    return String(execFileSync(node, args, options));
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${args.join(" ")} failed:\n${stdout ?? ""}${stderr ?? error}`);
  }
}

function project(name: string, files: Readonly<Record<string, string>>): string {
  const directory = join(app, name);
  mkdirSync(directory);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
  return directory;
}

const JOBS = readFileSync(join(root, "test/tools/projects/jobs.js"), "utf8");
const MODULES: Readonly<Record<string, string>> = {
  spillway: "session, col, lit, sizeof, FunctionError, SourceError",
  "node:crypto": "createHash",
  "node:fs": "mkdtempSync, rmSync",
  "node:os": "tmpdir",
  "node:path": "join",
  "node:url": "pathToFileURL",
};
const IMPORTS = `${Object.entries(MODULES)
  .map(([from, names]) => `import { ${names} } from "${from}";`)
  .join("\n")}
import { scaled } from "./rate.js";
import * as rate from "./rate.js";
`;
const REQUIRES = `${Object.entries(MODULES)
  .map(([from, names]) => `const { ${names} } = require("${from}");`)
  .join("\n")}
const { scaled } = require("./rate.js");
const rate = require("./rate.js");
`;
const RATE = "export const rate = 2;\nexport function scaled(x) { return x * rate; }\n";
const RATE_CJS = "exports.rate = 2;\nexports.scaled = (x) => x * exports.rate;\n";

describe("[A1] Jest", () => {
  const jest = () => [join(toolsOf("runners"), "jest/bin/jest.js"), "--ci", "--testTimeout", "60000"];

  test("with CommonJS, as it comes", { timeout: 600_000 }, () => {
    const directory = project("jest-cjs", {
      "package.json": '{ "type": "commonjs" }',
      "rate.js": RATE_CJS,
      "first.test.js": REQUIRES + JOBS,
      // In the same process, with everything loaded anew: the native modules are then loaded twice.
      "second.test.js":
        'const { range } = require("spillway");\ntest("again", async () => expect(await range(5).count()).toBe(5));\n',
    });
    run(directory, [...jest(), "--runInBand"]);
  });

  test("with sources that it compiles", { timeout: 600_000 }, () => {
    const plugin = join(toolsOf("runners"), "@babel/plugin-transform-modules-commonjs");
    const directory = project("jest-compiled", {
      "package.json": '{ "type": "commonjs" }',
      "babel.config.cjs": `module.exports = { plugins: [${JSON.stringify(plugin)}] };`,
      "rate.js": RATE,
      "first.test.js": IMPORTS + JOBS,
    });
    run(directory, jest());
  });

  test("with ES modules", { timeout: 600_000 }, () => {
    const directory = project("jest-esm", {
      "package.json": '{ "type": "module" }',
      "jest.config.js": "export default { transform: {} };",
      "rate.js": RATE,
      "first.test.js": IMPORTS + JOBS,
    });
    run(directory, ["--experimental-vm-modules", ...jest()]);
  });

  test("with CommonJS on Node 24, where require loads ES modules", { timeout: 600_000 }, () => {
    const directory = project("jest-24", {
      "package.json": '{ "type": "commonjs" }',
      "rate.js": RATE_CJS,
      "first.test.js": REQUIRES + JOBS,
    });
    run(directory, jest(), {}, nodeOf(24));
  });
});

describe("[A1] vitest", () => {
  for (const pool of ["forks", "threads", "vmThreads"]) {
    test(`in its pool ${pool}`, () => {
      const directory = project(`vitest-${pool}`, {
        "package.json": '{ "type": "module" }',
        "rate.js": RATE,
        "first.test.js": `import { afterAll, expect, test } from "vitest";\n${IMPORTS}${JOBS}`,
      });
      const vitest = [join(own, "vitest/vitest.mjs"), "run", "--root", ".", "--pool", pool];
      run(directory, [...vitest, "--test-timeout", "60000"]);
    });
  }
});

const PROGRAM = `import { range } from "spillway";
import { scaled } from "./rate.js";
const factor: number = 3;
async function main(): Promise<void> {
  const rows = await range(3).map((row) => ({ v: scaled(row.id) * factor })).takeAll();
  console.log(JSON.stringify(rows));
}
void main();
`;
const RATE_TS = RATE.replace("(x)", "(x: number): number");
const PRINTED = '[{"v":0},{"v":6},{"v":12}]\n';

test("[A1] tsx runs a program of TypeScript files", () => {
  const directory = project("tsx", { "main.ts": PROGRAM, "rate.ts": RATE_TS });
  expect(run(directory, [join(own, "tsx/dist/cli.mjs"), "main.ts"])).toBe(PRINTED);
});

describe("[A1] tsc", () => {
  for (const type of ["module", "commonjs"]) {
    test(`compiles a program to ${type}, with the declarations of packages checked`, () => {
      const directory = project(`tsc-${type}`, {
        "package.json": JSON.stringify({ type }),
        "main.ts": PROGRAM,
        "rate.ts": RATE_TS,
        "tsconfig.json": JSON.stringify({
          compilerOptions: { strict: true, target: "es2022", module: "nodenext", outDir: "out", types: ["node"] },
        }),
      });
      run(directory, [join(own, "typescript/bin/tsc"), "-p", "."]);
      expect(run(directory, ["out/main.js"])).toBe(PRINTED);
    });
  }
});

describe("[A1] esbuild", () => {
  const bundle = (directory: string, ...options: string[]) =>
    execFileSync(
      join(own, "esbuild/bin/esbuild"),
      ["main.ts", "--bundle", "--platform=node", "--log-level=error", ...options],
      { cwd: directory },
    );

  for (const format of ["esm", "cjs"]) {
    const out = format === "esm" ? "out.mjs" : "out.cjs";
    test(`a bundle in ${format} that leaves the package out works`, () => {
      const directory = project(`esbuild-${format}`, { "main.ts": PROGRAM, "rate.ts": RATE_TS });
      bundle(directory, `--format=${format}`, `--outfile=${out}`, "--external:spillway");
      expect(run(directory, [out])).toBe(PRINTED);
    });

    test(`a bundle in ${format} with the package inside says how to leave it out`, () => {
      const directory = project(`esbuild-full-${format}`, { "main.ts": PROGRAM, "rate.ts": RATE_TS });
      bundle(directory, `--format=${format}`, `--outfile=${out}`);
      expect(() => run(directory, [out])).toThrow(/OptionError: spillway was bundled .* --external:spillway/);
    });
  }
});

test("[A1] pnpm installs it, and its folder of links works", { timeout: 600_000 }, () => {
  const directory = join(home, "pnpm");
  mkdirSync(directory);
  cpSync(packed, join(directory, "spillway.tgz"));
  const manifest = { name: "p", type: "module", private: true, dependencies: { spillway: "file:spillway.tgz" } };
  writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(directory, "rate.js"), RATE);
  writeFileSync(join(directory, "main.mjs"), PROGRAM.replaceAll(/: (number|Promise<void>)/g, ""));
  const pnpm = join(toolsOf("runners"), "pnpm/bin/pnpm.cjs");
  const store = ["--store-dir", join(root, ".tools/pnpm-store"), "--prefer-offline", "--ignore-scripts"];
  // The first time it downloads the kernel, which may take minutes.
  run(directory, [pnpm, "install", ...store], {}, process.execPath, 500_000);
  expect(run(directory, ["main.mjs"])).toBe(PRINTED);
});
