/** Many small files, in workers that have little memory: what the kernel maps of each and never touches is no memory. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
