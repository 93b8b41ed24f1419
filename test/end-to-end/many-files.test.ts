/**
 * Many small files, in workers that have little memory: what the kernel maps of each and never touches is no memory.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const sessions = testSessions("many-files");
const directory = temporaryDirectory("many-files");

function files(name: string, count: number, ending: string, content: (i: number) => string): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  for (let i = 0; i < count; i++) writeFileSync(join(folder, `${String(i).padStart(5, "0")}.${ending}`), content(i));
  return folder;
}

test("[A1] [D1] 300 JSON files are looked at, read and mapped by a worker of 256 MiB", async () => {
  const folder = files("json", 300, "json", (i) => JSON.stringify({ a: i, b: `x${i}` }));
  const s = sessions.open({ workers: 1, memoryLimit: "256 MiB", maxRetries: 0, maxOomRetries: 0 });
  const read = s.readJson(folder);
  expect(await read.sum("a")).toBe(44_850);
  const mapped = await read.map((row) => ({ c: Number(row.a) + 1 })).takeAll();
  expect(mapped.reduce((sum, { c }) => sum + c, 0)).toBe(45_150);
  // The allowance of functions is what it was before.
  const refused = s
    .range(1)
    .map(() => ({ bytes: Buffer.alloc(2e9).length }))
    .takeAll();
  await expect(refused).rejects.toMatchObject({ name: "OutOfMemoryError", reason: "allocation" });
  await s.close();
});

test("[A1] a key, or a type, that only the last of 300 JSON files has is found", async () => {
  const folder = files("last", 300, "json", (i) => JSON.stringify(i < 299 ? { a: i } : { a: 0.5, z: "last" }));
  const s = sessions.open({ workers: 1 });
  const rows = await s.readJson(folder).takeAll();
  expect(rows.at(-1)).toEqual({ a: 0.5, z: "last" });
  expect(rows[298]).toEqual({ a: 298, z: null });
  await s.close();
});

test("[A1] 300 JSON files of one column are read one after another, too", async () => {
  const folder = files("one", 300, "json", (i) => JSON.stringify({ a: i }));
  const s = sessions.open({ workers: 1, memoryLimit: "256 MiB", maxRetries: 0, maxOomRetries: 0 });
  expect(await s.readJson(folder).sum("a")).toBe(44_850);
  await s.close();
});

test("[A1] [D1] 3,000 binary files of a few bytes go through a function in a worker of 256 MiB", async () => {
  const folder = files("binary", 3_000, "bin", (i) => `b${i}`);
  const s = sessions.open({ workers: 1, memoryLimit: "256 MiB", maxRetries: 0, maxOomRetries: 0 });
  const mapped = s.readBinary(folder).map(({ bytes }) => ({ length: (bytes as Uint8Array).length }));
  expect(await mapped.sum("length")).toBe(10 * 2 + 90 * 3 + 900 * 4 + 2_000 * 5);
  await s.close();
});

const LINES = ["a\r\nb\n", "\uFEFFmarked\n", "", "no end", "\n", "ä€😀\n\nlast\n"] as const;
const linesOf = (i: number) => LINES[i % LINES.length] ?? "";
const expected = (i: number) =>
  [["a", "b"], ["marked"], [], ["no end"], [""], ["ä€😀", "", "last"]][i % LINES.length] ?? [];

test("[A1] lines of 600 small text files: marks, line ends, empty files, paths, in order", async () => {
  const folder = files("lines", 600, "txt", linesOf);
  const all = Array.from({ length: 600 }, (_, i) => expected(i)).flat();
  const s = sessions.open({ workers: 2, preserveOrder: true });
  expect((await s.readText(folder).takeAll()).map(({ text }) => text)).toEqual(all);
  const paths = await s.readText(folder, { includePaths: true }).takeAll();
  expect(paths.at(-1)).toEqual({ text: "last", path: join(folder, "00599.txt") });
  expect(paths).toHaveLength(all.length);
  expect(await s.readText(folder).filter(sql("text = 'last'")).count()).toBe(100);
  expect(await s.readText(folder).groupBy("text").count().sort("text").take(1)).toEqual([{ text: "", count: 200 }]);
  await s.close();
});

test("[A1] 600 binary files are the bytes that they hold, one of them larger than a read", async () => {
  const large = "x".repeat(300_000);
  const folder = files("bytes", 600, "bin", (i) => (i === 77 ? large : i === 78 ? "" : `\u0000${i}`));
  const s = sessions.open({ workers: 2, preserveOrder: true });
  const rows = await s.readBinary(folder).takeAll();
  expect(rows.map(({ path }) => path)).toEqual(rows.map((_, i) => join(folder, `${String(i).padStart(5, "0")}.bin`)));
  const texts = rows.map(({ bytes }) => Buffer.from(bytes as Uint8Array).toString());
  expect([texts[76], texts[77] === large, texts[78], texts[599]]).toEqual(["\u000076", true, "", "\u0000599"]);
  await s.close();
});

test("[A1] bytes that are no text in one of 600 small files are an error with file and line", async () => {
  const folder = files("bad", 600, "txt", () => "good\n");
  writeFileSync(join(folder, "00300.txt"), Buffer.from([0x61, 0x0a, 0xff, 0x0a]));
  const s = sessions.open({ workers: 1, preserveOrder: true });
  await expect(s.readText(folder).takeAll()).rejects.toThrow(/00300\.txt.*line 2/s);
  await expect(s.readText(folder).agg({ longest: sql("text").max() })).rejects.toThrow(/00300\.txt.*line 2/s);
  await s.close();
});

test("[A1] a small file that cannot be opened is named", async () => {
  const folder = files("gone", 600, "bin", (i) => `b${i}`);
  const s = sessions.open({ workers: 1, preserveOrder: true });
  const seen = s.readBinary(folder);
  expect(await seen.count()).toBe(600);
  rmSync(join(folder, "00300.bin"));
  await expect(seen.takeAll()).rejects.toThrow(/00300\.bin/);
  await s.close();
});

test("[A1] small text files of two partition folders keep their values", async () => {
  for (const k of ["x", "y"]) mkdirSync(join(directory, "parted", `k=${k}`), { recursive: true });
  for (let i = 0; i < 600; i++) {
    writeFileSync(join(directory, "parted", i % 2 ? "k=x" : "k=y", `${String(i).padStart(3, "0")}.txt`), `l${i}\n`);
  }
  const s = sessions.open({ workers: 1, preserveOrder: true });
  const rows = await s.readText(join(directory, "parted")).takeAll();
  expect(rows).toHaveLength(600);
  expect([rows[0], rows.at(-1)]).toEqual([
    { text: "l1", k: "x" },
    { text: "l598", k: "y" },
  ]);
  await s.close();
});
