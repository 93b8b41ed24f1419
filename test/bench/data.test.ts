import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MadeTables, makeTables } from "../../bench/data/index.ts";
import { compilePrograms } from "../../bench/harness/index.ts";
import { places } from "../../bench/places.ts";

let directory = "";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "spillway-bench-"));
  await compilePrograms();
});

afterAll(() => rm(directory, { recursive: true }));

async function make(name: string, rows: number): Promise<MadeTables> {
  return makeTables({
    directory: join(directory, name),
    program: join(places.programs, "make-data.js"),
    tables: ["lineitem", "orders"],
    rows,
    onFile: () => undefined,
  });
}

async function ask(sql: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(places.programs, "query.js"), sql]);
  return JSON.parse(stdout);
}

const digest = async (path: string) =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex");

test("the same rows come out every time, and what is there is not made again", async () => {
  const once = await make("once", 5000);
  const twice = await make("twice", 5000);
  const [first = "", again = ""] = [once.lineitem[0], twice.lineitem[0]];
  expect(await digest(first)).toBe(await digest(again));
  const before = await stat(first);
  expect(await make("once", 5000)).toEqual(once);
  expect((await stat(first)).ino).toBe(before.ino);
});

test("every line has its order, and a smaller scale is a beginning of a larger one", async () => {
  const large = await make("once", 5000);
  const small = await make("once", 2800);
  const files = { lineitem: large.lineitem[0], orders: large.orders[0], start: small.lineitem[0] };
  expect(
    await ask(`
      SELECT (SELECT count(*) FROM '${files.lineitem}') AS lines,
             (SELECT count(*) FROM '${files.orders}') AS orders,
             (SELECT count(*) FROM '${files.lineitem}' SEMI JOIN '${files.orders}' ON l_orderkey = o_orderkey) AS matched,
             (SELECT count(*) FROM (FROM '${files.start}' EXCEPT FROM '${files.lineitem}')) AS strangers,
             (SELECT count(DISTINCT (l_orderkey, l_linenumber)) FROM '${files.lineitem}') AS keys`),
  ).toEqual({ lines: 5000, orders: 1251, matched: 5000, strangers: 0, keys: 5000 });
});
