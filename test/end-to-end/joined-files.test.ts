/**
 * Many small Parquet and JSON files, which workers make one of: the rows, types and errors are those of reading each of
 * them by its own name, which `includePaths` asks for.
 */
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { count, type Dataset, sql } from "spillway";
import { afterAll, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const sessions = testSessions("joined-files");
const directory = temporaryDirectory("joined-files");
const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

const FILES = 300;
const nameOf = (i: number, ending: string) => `${String(i).padStart(5, "0")}.${ending}`;

function folderOf(name: string, ending: string, content: (i: number) => string): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) writeFileSync(join(folder, nameOf(i, ending)), content(i));
  return folder;
}

function parquetFolder(name: string, select: (i: number) => string, options = "", files = FILES): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  for (let i = 0; i < files; i++) {
    connection.execute(`COPY (${select(i)}) TO '${join(folder, nameOf(i, "parquet"))}' (FORMAT parquet${options})`);
  }
  return folder;
}

type Read = (includePaths: boolean) => Dataset;

/** Rows and types with and without the path of each row's file, in plan order. */
async function expectSame(read: Read): Promise<void> {
  const joined = read(false);
  const alone = read(true).drop("path");
  expect((await joined.schema()).columns).toEqual((await alone.schema()).columns);
  expect(await joined.takeAll()).toEqual(await alone.takeAll());
}

const CODECS = ["snappy", "zstd", "uncompressed", "gzip"];
const TYPES = `SELECT i AS id, CASE WHEN i % 3 = 0 THEN NULL ELSE 'text ' || i % 5 END AS t,
  CASE WHEN i % 7 = 0 THEN 'NaN'::DOUBLE ELSE i / 8 END AS x, DATE '2020-01-01' + (i % 900)::INT AS d,
  (i / 4)::DECIMAL(12, 2) AS m, [i, NULL, -i] AS l, {'a': i, 'b': ['x' || i]} AS s, 'b'::BLOB AS b, i % 2 = 0 AS f`;

test("[A1] 300 Parquet files of every kind of column, codec and number of row groups are read as they are", async () => {
  const rowsOf = (i: number) => (i % 100 === 99 ? 5_000 : i % 50 === 7 ? 0 : 1 + (i % 3));
  const folder = join(directory, "types");
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) {
    const rows = `${TYPES} FROM range(${i * 10_000}, ${i * 10_000 + rowsOf(i)}) r(i)`;
    const options = `FORMAT parquet, CODEC ${CODECS[i % CODECS.length]}, ROW_GROUP_SIZE 2048`;
    connection.execute(`COPY (${rows}) TO '${join(folder, nameOf(i, "parquet"))}' (${options})`);
  }
  const s = sessions.open({ workers: 2, preserveOrder: true });
  await expectSame((includePaths) => s.readParquet(folder, { includePaths }));
  await expectSame((includePaths) =>
    s.readParquet(folder, { includePaths }).where(sql("id % 10000 = 4999 OR t = 'text 1'")),
  );
  const rows = Array.from({ length: FILES }, (_, i) => rowsOf(i)).reduce((sum, n) => sum + n, 0);
  expect(await s.readParquet(folder).count()).toBe(rows);
  expect(
    await s
      .readParquet(folder)
      .filter((row) => row.f === true)
      .count(),
  ).toBeGreaterThan(rows / 3);
  await s.close();
});

const FLAT = `SELECT i AS id, CASE WHEN i % 3 = 0 THEN NULL ELSE 'text ' || i END AS t,
  CASE WHEN i % 7 = 0 THEN 'NaN'::DOUBLE ELSE i / 8 END AS x, DATE '2020-01-01' + (i % 900)::INT AS d,
  (i / 4)::DECIMAL(12, 2) AS m, {'a': i, 'b': 'x' || i} AS s, 'b'::BLOB AS b, i % 2 = 0 AS f, NULL::INT AS n,
  'same' AS w`;

test.each([
  ["version 1", ""],
  ["version 2", ", PARQUET_VERSION v2"],
])("[A1] small row groups of 300 Parquet files become one, beside others: pages of %s", async (version, more) => {
  // Files of a few rows have no dictionaries, those of 40 rows have one for \`w\`, and those of 3,000 stay as they are.
  const rowsOf = (i: number) => (i % 100 === 99 ? 3_000 : i % 10 === 7 ? 40 : i % 50 === 3 ? 0 : 1 + (i % 3));
  const folder = join(directory, `flat ${version}`);
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) {
    const rows = `${FLAT} FROM range(${i * 10_000}, ${i * 10_000 + rowsOf(i)}) r(i)`;
    const codec = CODECS[Math.floor(i / 25) % CODECS.length];
    connection.execute(
      `COPY (${rows}) TO '${join(folder, nameOf(i, "parquet"))}' (FORMAT parquet, CODEC ${codec}${more})`,
    );
  }
  const s = sessions.open({ workers: 2, preserveOrder: true });
  await expectSame((includePaths) => s.readParquet(folder, { includePaths }));
  await expectSame((includePaths) => s.readParquet(folder, { includePaths }).drop("t", "n", "s"));
  await expectSame((includePaths) => s.readParquet(folder, { includePaths }).where(sql("id % 10000 = 1 OR x = 'NaN'")));
  await s.close();
});

test("[A1] a Parquet file among 300 that has changed, is damaged or gone is named", async () => {
  const folder = parquetFolder("damaged", (i) => `SELECT i AS a, 'text ' || i AS b FROM range(${i}, ${i + 40}) r(i)`);
  const file = join(folder, nameOf(150, "parquet"));
  const whole = readFileSync(file);
  const s = sessions.open({ workers: 1, preserveOrder: true });
  const seen = s.readParquet(folder);
  expect(await seen.sum("a")).toBe(FILES * 780 + 40 * ((FILES * (FILES - 1)) / 2));
  const damaged = Buffer.from(whole);
  damaged.fill(0xff, 4, 60);
  writeFileSync(file, damaged);
  // The kernel does not say in which of them.
  await expect(s.readParquet(folder).agg({ a: sql("a").sum() })).rejects.toThrow(/00150\.parquet .* damaged/);
  await expect(s.readParquet(folder).takeAll()).rejects.toThrow(/00150\.parquet .* damaged/);
  writeFileSync(file, whole.subarray(0, whole.length - 9));
  await expect(s.readParquet(folder).agg({ a: sql("a").sum() })).rejects.toThrow(/00150\.parquet/);
  await expect(seen.agg({ a: sql("a").sum() })).rejects.toThrow(/00150\.parquet.*(changed|examined)/s);
  rmSync(file);
  await expect(seen.agg({ a: sql("a").sum() })).rejects.toThrow(/00150\.parquet/);
  await s.close();
});

test("[A1] columns that differ among 300 Parquet files are an error, or all there with unionByName", async () => {
  const folder = parquetFolder("differing", (i) => (i === 299 ? "SELECT 1.5 AS a, 2 AS z" : `SELECT ${i} AS a`));
  const s = sessions.open({ workers: 1, preserveOrder: true });
  await expect(s.readParquet(folder).count()).rejects.toThrow(/00299\.parquet has column "z"/);
  const all = await s.readParquet(folder, { unionByName: true }).takeAll();
  expect(all.at(-1)).toEqual({ a: 1.5, z: 2 });
  expect(all[298]).toEqual({ a: 298, z: null });
  await s.close();
});

test("[A1] Parquet files of other columns whose bytes lie in the same places are not taken for each other", async () => {
  const s = sessions.open({ workers: 1, preserveOrder: true });
  const names = parquetFolder("same places", (i) => (i === 299 ? "SELECT 1 AS b" : "SELECT 1 AS a"));
  await expect(s.readParquet(names).count()).rejects.toThrow(/00299\.parquet has/);
  const types = parquetFolder("other types", (i) => (i === 299 ? "SELECT 1::UINTEGER AS a" : "SELECT 1::INTEGER AS a"));
  const { columns } = await s.readParquet(types).schema();
  expect(columns).toEqual((await s.readParquet(types, { includePaths: true }).drop("path").schema()).columns);
  await s.close();
});

test("[A1] of two folders of small Parquet files each row has its own partition's value", async () => {
  const folder = join(directory, "parted");
  for (const k of ["x", "y"]) {
    mkdirSync(join(folder, `k=${k}`), { recursive: true });
    for (let i = 0; i < 150; i++) {
      connection.execute(
        `COPY (SELECT ${i} AS a) TO '${join(folder, `k=${k}`, nameOf(i, "parquet"))}' (FORMAT parquet)`,
      );
    }
  }
  const s = sessions.open({ workers: 1 });
  const groups = await s
    .readParquet(folder)
    .groupBy("k")
    .agg({ n: count(), a: sql("a").sum() })
    .sort("k")
    .takeAll();
  expect(groups).toEqual([
    { k: "x", n: 150, a: 11_175 },
    { k: "y", n: 150, a: 11_175 },
  ]);
  await s.close();
});

const JSON_FILES: readonly ((i: number) => string)[] = [
  (i) => JSON.stringify({ a: i, b: `x${i}` }),
  (i) => JSON.stringify({ a: i, b: `line\nend ${i}`, c: { d: [i, null] } }, null, 2),
  (i) => `{"a":${i},"b":"one"}\n{"b":"two","a":-${i}}\n`,
  (i) => `\r\n  {"a": ${i}, "b": null}\r\n\r\n`,
  () => "",
  (i) => `{"a":${i}}\n\n{"e":"2020-01-0${1 + (i % 9)}"}`,
];

const jsonOf = (i: number) => JSON_FILES[i % JSON_FILES.length]?.(i) ?? "";

test("[A1] 300 JSON files of one value, of lines, pretty-printed, with blank lines and empty are read as they are", async () => {
  const folder = folderOf("json", "json", jsonOf);
  const s = sessions.open({ workers: 2, preserveOrder: true });
  await expectSame((includePaths) => s.readJson(folder, { includePaths }));
  await expectSame((includePaths) => s.readJson(folder, { includePaths, schema: { a: "VARCHAR", e: "DATE" } }));
  expect(await s.readJson(folder).agg({ n: count(), a: sql("a").sum() })).toEqual({ n: 350, a: 29_850 });
  await s.close();
});

test.each([
  ["an array", '[{"a":7},{"a":8}]'],
  ["two values in a line", '{"a":7} {"a":8}'],
  ["two values over lines", '{\n"a":7}\n{\n"a":8}'],
])("[A1] %s among 300 JSON files is read, too", async (what, content) => {
  const folder = folderOf(what, "json", (i) => (i === 200 ? content : '{"a":1}'));
  const s = sessions.open({ workers: 1 });
  expect(await s.readJson(folder).agg({ n: count(), a: sql("a").sum() })).toEqual({ n: 301, a: 314 });
  await s.close();
});

test("[A1] [A14] halves of a value in two of 300 JSON files are no value, and the file is named", async () => {
  const folder = folderOf("halves", "json", (i) => (i === 100 ? '{"a":1' : i === 101 ? ',"b":2}' : '{"a":1,"b":3}'));
  const s = sessions.open({ workers: 1, preserveOrder: true });
  await expect(s.readJson(folder).takeAll()).rejects.toThrow(/00100\.json/);
  await s.close();
});

test("[A1] [A14] a value of 300 JSON files that does not fit its column is named with its file", async () => {
  const folder = folderOf("misfit", "json", (i) => JSON.stringify({ a: i === 250 ? "no number" : i }));
  const s = sessions.open({ workers: 1, preserveOrder: true });
  const read = s.readJson(folder, { schema: { a: "BIGINT" } });
  await expect(read.agg({ a: sql("a").sum() })).rejects.toThrow(/00250\.json.*"no number" does not fit column "a"/s);
  await expect(read.map((row) => row).takeAll()).rejects.toThrow(/00250\.json.*"no number" does not fit column "a"/s);
  await s.close();
});

test("[A1] files of the same length read one list after another are not taken for each other", async () => {
  const s = sessions.open({ workers: 1 });
  for (const round of [1, 2, 3]) {
    const folder = folderOf(`round ${round}`, "json", () => `{"a":${round}}`);
    const parquet = parquetFolder(`parquet ${round}`, () => `SELECT ${round} AS a`, "", 64);
    expect(await s.readJson(folder).sum("a")).toBe(FILES * round);
    expect(
      await s
        .readParquet(parquet)
        .map((row) => row)
        .sum("a"),
    ).toBe(64 * round);
  }
  await s.close();
});

test("[A1] what a worker read when it found the columns is not what a later call gets", async () => {
  const s = sessions.open({ workers: 1 });
  const folder = folderOf("later", "json", () => '{"a":1}');
  const changed = join(folder, nameOf(7, "json"));
  // Same size and time, so that only reading the file again shows the difference. Columns of files that were just
  // written are looked for again in each call.
  const then = new Date(Date.now() - 10_000);
  for (let i = 0; i < FILES; i++) utimesSync(join(folder, nameOf(i, "json")), then, then);
  const read = s.readJson(folder);
  expect((await read.schema()).columns).toEqual([{ name: "a", type: "BIGINT" }]);
  writeFileSync(changed, '{"a":5}');
  utimesSync(changed, then, then);
  expect(await read.sum("a")).toBe(FILES + 4);
  await s.close();
});
