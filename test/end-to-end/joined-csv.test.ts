/**
 * Many small CSV files, which workers make one of: the rows, types and errors are those of reading each of them by its
 * own name, which `includePaths` asks for.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CsvOptions, count, type ReadOptions, type Session, sql } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const sessions = testSessions("joined-csv");
const directory = temporaryDirectory("joined-csv");
/** More than a query over all rows reads by itself. */
const FILES = 260;

function folderOf(name: string, content: (i: number) => string): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) writeFileSync(join(folder, `${String(i).padStart(5, "0")}.csv`), content(i));
  return folder;
}

const day = (i: number) => `2020-01-0${1 + (i % 9)}`;

const FOLDERS: readonly (readonly [string, (i: number) => string, (CsvOptions & ReadOptions)?])[] = [
  ["lines", (i) => `id,name,x,day\n${i},one ${i},${i / 8},${day(i)}\n-${i},,,\n`],
  ["no end of the last line", (i) => `id,name\n${i},a\n${i},b`],
  ["a last field that is empty", (i) => `id,name\n${i},`],
  ["headers alone and empty files", (i) => ["id,name\n", "id,name", "", `id,name\n${i},x\n`][i % 4] ?? ""],
  ["one column with empty lines", (i) => `id\n${i}\n\n${i}\n\n`],
  ["only empty lines in some", (i) => (i % 7 === 3 ? "\n\n" : `id\n${i}\n\n`)],
  ["quotes in some", (i) => (i % 9 === 4 ? `id,name\n${i},"two\nlines"\n` : `id,name\n${i},one\n`)],
  ["empty quoted texts in some", (i) => (i % 9 === 4 ? `id,name\n${i},""\n` : `id,name\n${i},\n`)],
  ["returns", (i) => `id,name\r\n${i},one\r\n`],
  ["returns in some", (i) => (i % 2 === 0 ? `id,name\r\n${i},one\r\n` : `id,name\n${i},one\n`)],
  ["byte order marks in some", (i) => `${i % 2 === 0 ? "\uFEFF" : ""}id,name\n${i},one\n`],
  ["spaces in headers", (i) => `${i % 2 === 0 ? "id, name" : "id,name"}\n${i},one\n`],
  ["columns in another order", (i) => (i % 2 === 0 ? `id,name\n${i},one\n` : `name,id\none,${i}\n`)],
  ["no header", (i) => `${i},one,${day(i)}\n`, { header: false }],
  ["a header that is a row", (i) => `${i},1\n${i},2\n`, { header: false }],
  ["zip codes", (i) => `zip,n\n0${1000 + i},${i}\n`],
  ["tabs", (i) => `id\tname\n${i}\ta, b\n`, { delimiter: "\t" }],
  ["comments", (i) => `# of file ${i}\nid,name\n${i},x\n`, { comment: "#" }],
  ["skipped lines", (i) => `file ${i}\nid,name\n${i},x\n`, { skip: 1 }],
  ["decimal commas", (i) => `id;x\n${i};${i},5\n`, { decimal: "," }],
  ["words for null", (i) => `id,name\n${i % 3 === 0 ? "NA" : i},NA\n`, { nullValues: "NA" }],
  ["declared types", (i) => `id,name\n${i}.0,5\n`, { schema: { id: "BIGINT", name: "DOUBLE" } }],
  ["all text", (i) => `id,name\n${i},5\n`, { allText: true }],
  ["rows that are left out", (i) => `id,name\n${i},5\n1,2,3\n`, { ignoreErrors: true }],
];

test("[A18] CSV files of the same kind, and others among them, are read as they are", async () => {
  const s = sessions.open({ workers: 2, preserveOrder: true });
  for (const [name, content, options] of FOLDERS) await expectSame(s, name, content, options);
  await s.close();
});

async function expectSame(
  s: Session,
  name: string,
  content: (i: number) => string,
  options: CsvOptions & ReadOptions = {},
): Promise<void> {
  const folder = folderOf(name, content);
  const joined = s.readCsv(folder, options);
  const alone = s.readCsv(folder, { ...options, includePaths: true }).drop("path");
  expect((await joined.schema()).columns, name).toEqual((await alone.schema()).columns);
  const rows = await joined.takeAll();
  expect(rows, name).toEqual(await alone.takeAll());
  const [first] = Object.keys(rows[0] ?? {});
  const values = { n: count(), least: sql(`min("${first}")`), most: sql(`max("${first}")`) };
  expect(await joined.agg(values), name).toEqual(await alone.agg(values));
}

test.each([
  ["a value that does not fit its column", "id,name\n1,x\nno number,y\n", /"no number" does not fit column "id"/],
  ["a row with too many fields", "id,name\n1,x\n2,y,z\n", /00250\.csv/],
  ["a row with too few fields", "id,name\n1,x\n2\n", /00250\.csv/],
])("[A14] [A18] %s of many CSV files is named with file and line", async (what, odd, words) => {
  const folder = folderOf(what, (i) => (i === 250 ? odd : `id,name\n${i},x\n`));
  const s = sessions.open({ workers: 1, preserveOrder: true });
  const read = s.readCsv(folder);
  const sums = () => read.agg({ id: sql("id").sum(), b: sql("name").max() });
  // One after the other: a job that fails before it is awaited would be an unhandled rejection.
  for (const job of [sums, () => read.map((row) => row).takeAll()]) {
    const failing = Promise.resolve(job());
    await expect(failing).rejects.toMatchObject({ name: "SourceError" });
    await expect(failing).rejects.toThrow(/00250\.csv.*line 3|line 3.*00250\.csv/s);
    await expect(failing).rejects.toThrow(words);
  }
  await s.close();
});

test("[A18] what is known of CSV files is asked again when one of them has changed", async () => {
  const folder = folderOf("changing", (i) => `id\n${i}\n`);
  const s = sessions.open({ workers: 1 });
  expect(await s.readCsv(folder).sum("id")).toBe((FILES * (FILES - 1)) / 2);
  writeFileSync(join(folder, "00000.csv"), "id,x\n0,1\n");
  await expect(s.readCsv(folder).sum("id")).rejects.toThrow(/00001\.csv has no column "x"/);
  rmSync(join(folder, "00000.csv"));
  expect(await s.readCsv(folder).sum("id")).toBe((FILES * (FILES - 1)) / 2);
  await s.close();
});
