/** The package as a user gets it: packed, installed in an empty folder, used as JavaScript and as TypeScript. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";
import { installInto, packInto, root } from "../support/tools.ts";

const home = temporaryDirectory("package");
const app = join(home, "app");

function run(command: string, args: readonly string[], cwd = app): string {
  return execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, XDG_STATE_HOME: join(home, "state"), NODE_OPTIONS: "" },
  });
}

beforeAll(() => {
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", type: "module", private: true }));
  installInto(app, packInto(home));
}, 300_000);

const SCRIPT = `
import { range, col } from "spillway";
import { join } from "node:path";
const factor = 3;
const rows = await range(100).filter(col("id").lt(5)).map((row) => ({ v: row.id * factor, where: join("a", "b") })).takeAll();
console.log(JSON.stringify(rows.sort((a, b) => a.v - b.v)));
`;
const EXPECTED = [0, 3, 6, 9, 12].map((v) => ({ v, where: "a/b" }));

test("[A1] an installed package works from JavaScript", () => {
  writeFileSync(join(app, "script.mjs"), SCRIPT);
  expect(JSON.parse(run(process.execPath, ["script.mjs"]))).toEqual(EXPECTED);
});

test("[A5] an installed package works from TypeScript run through tsx", () => {
  writeFileSync(
    join(app, "rate.ts"),
    "export const rate: number = 2;\nexport function scaled(x: number): number { return x * rate; }\n",
  );
  writeFileSync(
    join(app, "script.ts"),
    `${SCRIPT.replaceAll("console.log", "void ")}
import { rate, scaled } from "./rate.ts";
interface Out { v: number; twice: number }
const typed = await range(3).map((row): Out => ({ v: row.id * rate, twice: scaled(row.id) })).takeAll();
console.log(JSON.stringify(typed.sort((a, b) => a.v - b.v)));
`,
  );
  expect(JSON.parse(run(process.execPath, ["--import", import.meta.resolve("tsx"), "script.ts"]))).toEqual(
    [0, 2, 4].map((v) => ({ v, twice: v })),
  );
});

test("[A12] its types compile under strict TypeScript, with the declarations checked, too", () => {
  writeFileSync(
    join(app, "typed.ts"),
    `import { fromItems } from "spillway";
const ds = fromItems([{ a: 1, b: "x" }]).map((row) => ({ c: row.a + 1 }));
export const total: Promise<{ c: number }[]> = ds.takeAll();
// @ts-expect-error there is no column z
fromItems([{ a: 1 }]).select("z");
`,
  );
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--skipLibCheck",
    "false",
    "--types",
    "node",
  ];
  symlinkSync(join(root, "node_modules", "@types"), join(app, "node_modules", "@types"));
  symlinkSync(join(root, "node_modules", "undici-types"), join(app, "node_modules", "undici-types"));
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options, "typed.ts"]);
});

test("[A1] the command line tool is there", () => {
  expect(run(process.execPath, ["node_modules/spillway/dist/cli/main.js", "--version"])).toMatch(
    /^spillway \d+\.\d+\.\d+/,
  );
  expect(run(process.execPath, ["node_modules/spillway/dist/cli/main.js", "info"])).toMatch(/workers/);
});
