/** `spillway types`: row types from files, which compile, and which are what rows are. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { col, sql } from "spillway";
import { beforeAll, expect, test } from "vitest";
import { valueType } from "../../src/cli/row-type.ts";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { root } from "../support/tools.ts";

const home = temporaryDirectory("types");
const s = testSessions("types").open({ workers: 1 });

/** A column of each type of docs/values.md: its SQL, and what a row has of it. */
const COLUMNS: Readonly<Record<string, readonly [sql: string, type: string]>> = {
  flag: ["true", "boolean | null"],
  tiny: ["1::TINYINT", "number | null"],
  whole: ["2::UINTEGER", "number | null"],
  big: ["3::BIGINT", "number | null"],
  real: ["1.5::FLOAT", "number | null"],
  price: ["12.50::DECIMAL(10,2)", "number | null"],
  text: ["'x'", "string | null"],
  bytes: ["'a'::BLOB", "Uint8Array | null"],
  day: ["DATE '2024-01-02'", "Date | null"],
  at: ["TIMESTAMP '2024-01-02 03:04:05'", "Date | null"],
  zoned: ["TIMESTAMPTZ '2024-01-02 03:04:05+00'", "Date | null"],
  clock: ["TIME '03:04:05'", "number | null"],
  span: ["INTERVAL 3 DAY", "{ months: number; days: number; nanos: number } | null"],
  list: ["[1, 2]", "(number | null)[] | null"],
  nested: ["[['a'], NULL]", "((string | null)[] | null)[] | null"],
  item: ["{'a': 1, 'b c': 'x'}", '{ a: number | null; "b c": string | null } | null'],
  map: ["MAP {'k': 1.5::DOUBLE}", "Map<string, number | null> | null"],
  uuid: ["'6f2ad3a5-8f3b-4c62-9c7e-0f1d8a2b3c4d'::UUID", "string | null"],
  "odd name": ["1", "number | null"],
  "quote\" and 'tick": ["1", "number | null"],
  __proto: ["'p'", "string | null"],
  class: ["'c'", "string | null"],
  ünïcode: ["1", "number | null"],
  none: ["NULL::INTEGER", "number | null"],
};

beforeAll(async () => {
  const columns = Object.entries(COLUMNS).map(([name, [text]]) => sql(text).as(name));
  await s
    .range(2)
    .select(...columns)
    .writeParquet(join(home, "all"));
  await s.range(2).select(col("id"), sql("'a,b'").as("text")).writeCsv(join(home, "csv"));
});

function spillway(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, XDG_STATE_HOME: join(home, "state") };
  return spawnSync(process.execPath, [join(root, "dist/cli/main.js"), ...args], { cwd: home, env, encoding: "utf8" });
}

test("[A12] the row type of a file compiles, is exact, and a program runs with it", () => {
  const made = spillway("types", "all/*.parquet", "--name", "Trip");
  expect(made.stderr).toBe("");
  const app = join(home, "app");
  mkdirSync(join(app, "node_modules"), { recursive: true });
  symlinkSync(root, join(app, "node_modules/spillway"));
  for (const name of ["@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name));
  writeFileSync(join(app, "package.json"), '{ "type": "module" }');
  writeFileSync(join(app, "rows.ts"), made.stdout);
  const expected = Object.entries(COLUMNS).map(([name, [, type]]) => `${JSON.stringify(name)}: ${type}`);
  writeFileSync(
    join(app, "main.ts"),
    `import { readParquet } from "spillway";
import type { Trip } from "./rows.ts";
type Expected = { ${expected.join("; ")} };
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { [K in keyof T]: T[K] };
export const same: Same<Flat<Trip>, Flat<Expected>> = true;
const rows = await readParquet<Trip>(process.argv[2] ?? "").map((row) => ({ ...row, year: row.day?.getUTCFullYear() })).takeAll();
const kinds = Object.entries(rows[0] ?? {}).map(([name, value]) => [name, value === null ? "null" : value?.constructor.name]);
console.log(JSON.stringify(Object.fromEntries(kinds)));
`,
  );
  const options = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--module", "nodenext"];
  const types = ["--types", "node", "--allowImportingTsExtensions", "main.ts"];
  const compiled = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options, ...types], {
    cwd: app,
    encoding: "utf8",
  });
  expect(compiled.stdout).toBe("");
  const ran = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), "main.ts", join(home, "all")], {
    cwd: app,
    encoding: "utf8",
    env: { ...process.env, XDG_STATE_HOME: join(home, "state") },
  });
  expect(ran.stderr).toBe("");
  const kind = (type: string) => /^(\w+)\b/.exec(type)?.[1]?.replace(/^[bns]/, (letter) => letter.toUpperCase());
  const wanted = Object.entries(COLUMNS).map(([name, [text, type]]) => [
    name,
    text.startsWith("NULL") ? "null" : type.startsWith("(") ? "Array" : type.startsWith("{") ? "Object" : kind(type),
  ]);
  expect(JSON.parse(ran.stdout)).toEqual({ ...Object.fromEntries(wanted), year: "Number" });
});

test("[A12] options say how values are read, as those of the API do", () => {
  const { stdout } = spillway(
    "types",
    "all/*.parquet",
    "--int64=bigint",
    "--decimal",
    "string",
    "--timestamp",
    "bigint",
  );
  expect(stdout).toMatch(/big: bigint \| null;/);
  expect(stdout).toMatch(/price: string \| null;/);
  expect(stdout).toMatch(/at: bigint \| null;/);
  expect(spillway("types", "csv/*.csv").stdout).toMatch(
    /export interface Row \{[^}]*id: number \| null;[^}]*text: string \| null;/,
  );
});

test("[A12] types of the kernel that become texts, and such as nobody knows", () => {
  expect(valueType("ENUM('a', 'it''s (')[]", {})).toBe("(string | null)[]");
  expect(valueType('STRUCT(a UNION(x INTEGER, y VARCHAR), "b""c" DECIMAL(4,1)[3])', {})).toBe(
    '{ a: string | null; "b\\"c": (number | null)[] | null }',
  );
  expect(valueType("TIME WITH TIME ZONE", {})).toBe("string");
  expect(valueType("TIMESTAMP WITH TIME ZONE", {})).toBe("Date");
  expect(valueType("MAP(BIGINT, STRUCT(a TIME))", { int64: "bigint" })).toBe(
    "Map<bigint, { a: number | null } | null>",
  );
  expect(valueType("VARIANT", {})).toBe("unknown");
  expect(() => valueType("STRUCT(a", {})).toThrow(/cannot be read/);
});

test("[A1] the command line says what is wrong, with the exit codes 1 and 2", () => {
  expect(spillway("typos")).toMatchObject({ status: 2, stdout: "" });
  expect(spillway("typos").stderr).toMatch(/there is no command "typos"\. Did you mean "types"\? spillway --help/);
  expect(spillway("types")).toMatchObject({ status: 2, stderr: expect.stringContaining("types: give the files") });
  expect(spillway("types", "x.parquet", "--nam=T")).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/unknown option '--nam=T'/),
  });
  expect(spillway("types", "data.bin").stderr).toMatch(/--format parquet/);
  const missing = spillway("types", "nowhere.parquet");
  expect(missing).toMatchObject({ status: 1, stdout: "" });
  expect(missing.stderr).toMatch(/^spillway: .*nowhere\.parquet/);
  expect(spillway("--help")).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^ {2}types +the row type of files/m),
  });
});
