/**
 * One file read by several tasks: cut where rows begin, whatever is in quotes there; and text that is packed or no
 * UTF-8.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sql } from "spillway";
import { afterAll, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const sessions = testSessions("cut-files");
const directory = temporaryDirectory("cut-files");
const s = sessions.open({ workers: 2, maxRetries: 0, preserveOrder: true });
afterAll(() => s.close());

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i} ${"x".repeat(i % 50)}`);
const texts = async (path: string, options?: Parameters<typeof s.readText>[1]) =>
  (await s.readText(path, options).takeAll()).map(({ text }) => text);
const tasksOf = (dataset: { stats(): unknown }) =>
  Number(/\d+\/(\d+) blocks executed/.exec(String(dataset.stats()))?.[1]);

test("[A18] overrideNumBlocks cuts one text file into that many tasks, and lines keep their order", async () => {
  const path = file("lines.txt", `${lines.join("\n")}\n`);
  const read = s.readText(path, { overrideNumBlocks: 7 });
  expect((await read.takeAll()).map(({ text }) => text)).toEqual(lines);
  expect(tasksOf(read)).toBe(7);
});

test.each([
  ["without a final newline", lines.join("\n"), lines],
  ["with CRLF", `${lines.join("\r\n")}\r\n`, lines],
  ["with line ends of both kinds", "a\r\nb\nc\r\n\nd\n", ["a", "b", "c", "", "d"]],
  ["with a return within a line", "a\rb\nc\r\nd\re\r\r\n", ["a\rb", "c", "d\re\r"]],
  ["with a mark of UTF-8", "\uFEFFa\nb\nc", ["a", "b", "c"]],
  ["with zero characters", "a\0b\nc\nd\n", ["a\0b", "c", "d"]],
  ["with empty lines at the end", "a\nb\n\n\n", ["a", "b", "", ""]],
  ["with quotes and delimiters", 'a"b,\n"c\nd",e\\\n', ['a"b,', '"c', 'd",e\\']],
  ["of one line", "a long line only", ["a long line only"]],
])("[A18] a text file %s gives the same lines cut or whole", async (name, content, expected) => {
  const path = file(`${name.replaceAll(" ", "-")}.txt`, content);
  expect(await texts(path)).toEqual(expected);
  expect(await texts(path, { overrideNumBlocks: 3 })).toEqual(expected);
});

test("[A18] text is read from gzip, also of several members; a truncated one is an error that names the file", async () => {
  const members = Buffer.concat([
    gzipSync(`${lines.slice(0, 2_000).join("\n")}\n`),
    gzipSync(lines.slice(2_000).join("\n")),
  ]);
  const path = file("members.txt.gz", members);
  expect(await texts(path)).toEqual(lines);
  expect(await texts(file("named", gzipSync("a\r\nb\n")), { compression: "gzip" })).toEqual(["a", "b"]);
  const cut = file("cut.txt.gz", members.subarray(0, members.length - 900));
  await expect(texts(cut)).rejects.toMatchObject({ name: "SourceError", path: cut });
  await expect(texts(cut)).rejects.toThrow(
    /cut\.txt\.gz cannot be read: it was cut short: its packed data ends too early\. Write or copy it again/,
  );
});

test("[A18] text in other encodings is decoded, cut or not", async () => {
  const words = Array.from({ length: 400 }, (_, i) => `zwölf Straßen ${i} ਊ Ċ`);
  const latin = words.map((word) => word.replace(/ ਊ Ċ/, ""));
  // ਊ and Ċ have the bytes of a line end in UTF-16: 0A 0A and 01 0A.
  const le = Buffer.from(`\uFEFF${words.join("\r\n")}\r\n`, "utf16le");
  const be = Buffer.from(le).swap16();
  for (const overrideNumBlocks of [1, 5]) {
    const latinFile = file("latin.txt", Buffer.from(latin.join("\n"), "latin1"));
    expect(await texts(latinFile, { encoding: "latin-1", overrideNumBlocks })).toEqual(latin);
    expect(await texts(file("le.txt", le), { encoding: "utf-16le", overrideNumBlocks })).toEqual(words);
    expect(await texts(file("be.txt", be), { encoding: "utf-16be", overrideNumBlocks })).toEqual(words);
  }
  const packed = file("le.txt.gz", gzipSync(le));
  expect(await texts(packed, { encoding: "utf-16le" })).toEqual(words);
  const euro = file("euro.txt", Buffer.from([0x80, 0x0a]));
  expect(await texts(euro, { encoding: "windows-1252" })).toEqual(["€"]);
});

test("[A18] bytes that are no UTF-8 are refused with file and line, or replaced", async () => {
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  bytes[bytes.indexOf("line 4321 ") + 2] = 0xff;
  const path = file("bad.txt", bytes);
  const told = { name: "SourceError", path, message: expect.stringMatching(/bad\.txt, line 4322: .*latin-1.*replace/) };
  await expect(texts(path)).rejects.toMatchObject(told);
  await expect(texts(path, { overrideNumBlocks: 4 })).rejects.toMatchObject(told);
  const replaced = await texts(path, { badBytes: "replace", overrideNumBlocks: 4 });
  expect(replaced[4321]).toBe(`li\uFFFDe ${lines[4321]?.slice(5)}`);
  const odd = file("odd.txt", Buffer.from(Buffer.from("ab\ncd\n", "utf16le").subarray(0, 11)));
  await expect(texts(odd, { encoding: "utf-16le" })).rejects.toThrow(/odd\.txt, line 2: .*UTF-16LE/);
});

test("[A18] wrong options of readText are errors at once", () => {
  // @ts-expect-error: not an encoding
  expect(() => s.readText("x", { encoding: "utf-7" })).toThrow(/encoding is "utf-7"/);
  // @ts-expect-error: not an answer
  expect(() => s.readText("x", { badBytes: "ignore" })).toThrow(/badBytes/);
});

/** Rows with quotes, delimiters and line ends in them, as CSV. */
function quotedCsv(
  count: number,
  ending: string,
  filler = "",
): { readonly csv: string; readonly rows: readonly object[] } {
  const rows = Array.from({ length: count }, (_, i) => ({
    id: i,
    note: i % 3 === 0 ? `a "quoted" note,\n${i},1\n"${i}` : `plain ${i}${filler}`,
    day: `2024-01-${String((i % 28) + 1).padStart(2, "0")}`,
  }));
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = ["id,note,day", ...rows.map(({ id, note, day }) => `${id},${cell(note)},${day}`)].join(ending) + ending;
  return { csv, rows };
}

test.each(["\n", "\r\n"])(
  "[A18] a CSV file with line ends in quotes is cut between records only (%j)",
  async (ending) => {
    const { csv, rows } = quotedCsv(3_000, ending);
    const path = file("quoted.csv", csv);
    const read = s.readCsv(path, { overrideNumBlocks: 9, schema: { day: "VARCHAR" } });
    expect(await read.takeAll()).toEqual(rows);
    expect(tasksOf(read)).toBe(9);
  },
);

test("[A18] a large CSV file is cut between records without being read from its beginning", async () => {
  const { csv, rows } = quotedCsv(100_000, "\n", "x".repeat(500));
  const path = file("large.csv", csv);
  expect(csv.length).toBeGreaterThan(33_000_000);
  const read = s
    .readCsv(path, { includePaths: true })
    .map(({ id, note, path: from }) => ({ id, size: String(note).length, from }));
  const found = await read.takeAll();
  expect(found.length).toBe(rows.length);
  expect(found.every(({ id, from }, i) => id === i && from === path)).toBe(true);
  expect(tasksOf(read)).toBeGreaterThan(3);
});

test("[A18] a CSV file in UTF-16 is refused by name, with what to do", async () => {
  const path = file("utf16.csv", Buffer.from("\uFEFFa,b\r\n1,2\r\n", "utf16le"));
  await expect(s.readCsv(path).takeAll()).rejects.toMatchObject({
    name: "SourceError",
    message: expect.stringMatching(/utf16\.csv is encoded in UTF-16LE.*encoding: "utf-16le"/),
  });
});

test("[A18] errors in a part of a CSV file name the file's own line", async () => {
  const rows = Array.from({ length: 4_000 }, (_, i) => `${i},${i * 2}`);
  const misfit = file("misfit.csv", ["a,b", ...rows.with(3_500, "x,1"), ""].join("\n"));
  const typed = { schema: { a: "BIGINT" }, overrideNumBlocks: 5 };
  await expect(
    s
      .readCsv(misfit, typed)
      .map((row) => row)
      .takeAll(),
  ).rejects.toThrow(/misfit\.csv, line 3502: "x"/);
  const broken = file("broken.csv", ["a,b", ...rows.with(3_500, "1,2,3"), ""].join("\n"));
  const read = s.readCsv(broken, { overrideNumBlocks: 5 }).map((row) => row);
  await expect(read.takeAll()).rejects.toThrow(/broken\.csv, line 3502: it has 3 fields/);
});

test("[A18] lines above the header, and partition folders, are right in cut files", async () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => ({ id: i, day: i % 7, country: "NL" }));
  mkdirSync(join(directory, "hive/country=NL"), { recursive: true });
  const csv = ['a "title', "another", "id,day", ...rows.map(({ id, day }) => `${id},${day}`)].join("\n");
  file("hive/country=NL/part.csv", csv);
  const read = s.readCsv(join(directory, "hive"), { skip: 2, overrideNumBlocks: 6 });
  expect(await read.takeAll()).toEqual(rows);
  expect(tasksOf(read)).toBe(6);
});

test("[A18] a limit over a cut file reads no more than it needs, and the file is let go", async () => {
  const path = file("limit.csv", quotedCsv(20_000, "\n").csv);
  const read = s.readCsv(path, { overrideNumBlocks: 8 });
  expect(
    (
      await read
        .map((row) => row)
        .limit(5)
        .takeAll()
    ).map(({ id }) => id),
  ).toEqual([0, 1, 2, 3, 4]);
  expect(await read.map((row) => row).count()).toBe(20_000);
});

test("[A18] lines of JSON are cut into tasks; pretty ones and arrays are read by one", async () => {
  const rows = Array.from({ length: 2_000 }, (_, i) => ({ a: i, b: { c: `x\n${i}` } }));
  const ndjson = file("lines.json", rows.map((row) => JSON.stringify(row)).join("\n"));
  const read = s.readJson(ndjson, { overrideNumBlocks: 4 });
  expect(await read.takeAll()).toEqual(rows);
  expect(tasksOf(read)).toBe(4);
  const array = s.readJson(file("array.json", JSON.stringify(rows, null, 1)), { overrideNumBlocks: 4 });
  expect(await array.takeAll()).toEqual(rows);
  expect(tasksOf(array)).toBe(1);
  const pretty = file("pretty.json", rows.map((row) => JSON.stringify(row, null, 1)).join("\n"));
  expect(await s.readJson(pretty, { overrideNumBlocks: 4 }).takeAll()).toEqual(rows);
  const typed = s.readJson(ndjson, { overrideNumBlocks: 4, includePaths: true }).map(({ a, path }) => ({ a, path }));
  expect((await typed.takeAll()).at(-1)).toEqual({ a: 1_999, path: ndjson });
});

test("[A18] rows of cut files are written as they are", async () => {
  const { csv, rows } = quotedCsv(2_000, "\n");
  const path = file("copied.csv", csv);
  await s.readCsv(path, { overrideNumBlocks: 4, schema: { day: "VARCHAR" } }).writeParquet(join(directory, "copied"));
  expect(await s.readParquet(join(directory, "copied")).takeAll()).toEqual(rows);
});

test("[A18] many packed files in few tasks are all read, though each is more than a pipe holds", async () => {
  const packed = gzipSync(`${Array.from({ length: 40_000 }, (_, i) => `line ${i} ${"x".repeat(50)}`).join("\n")}\n`);
  mkdirSync(join(directory, "many"));
  for (let i = 0; i < 6; i++) file(`many/${i}.txt.gz`, packed);
  expect(await s.readText(join(directory, "many"), { overrideNumBlocks: 1 }).count()).toBe(240_000);
});

test("[A18] parts of several CSV files in few tasks are all read", async () => {
  const rows = Array.from({ length: 150_000 }, (_, i) => `${i},${"y".repeat(60)}`).join("\n");
  mkdirSync(join(directory, "parts"));
  for (const name of ["a", "b", "c"]) file(`parts/${name}.csv`, `id,text\n${rows}\n`);
  expect(await s.readCsv(join(directory, "parts"), { overrideNumBlocks: 4 }).sum("id")).toBe(33_749_775_000);
});

test("[A18] joins, groups and sorts see the rows of packed and large text files", async () => {
  const path = file("joined.txt.gz", gzipSync(`${lines.join("\n")}\n`));
  const read = () => s.readText(path).withColumn("k", sql("substr(text, 1, 9)"));
  expect(await read().join(s.readText(path), { on: "text" }).count()).toBe(lines.length);
  expect(await read().groupBy("text").count().count()).toBe(lines.length);
  expect((await s.readText(path).sort("text").take(1)).map(({ text }) => text)).toEqual([...lines].sort().slice(0, 1));
});
