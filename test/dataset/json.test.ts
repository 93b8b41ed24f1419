/** JSON values against what is really in the files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readJson } from "../../src/dataset/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-json-"));
const engine = new InProcessEngine();
let count = 0;
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});
async function read(...lines: readonly string[]) {
  const path = join(folder, `${count++}.json`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  const ds = readJson(engine, path);
  return { type: (await ds.schema()).columns[0]?.type, values: (await ds.takeAll()).map((row) => row.v) };
}

test.each([
  ['"2024-01-01T00:00:00+02:00"', "TIMESTAMP WITH TIME ZONE", new Date("2023-12-31T22:00:00Z")],
  ['"2024-01-01T10:00:00"', "TIMESTAMP", new Date("2024-01-01T10:00:00Z")],
  ['"2024-01-01"', "DATE", new Date("2024-01-01")],
  ["123456789012345678901234567890", "VARCHAR", "123456789012345678901234567890"],
  ["2.5", "DOUBLE", 2.5],
  ["7", "BIGINT", 7],
  ["true", "BOOLEAN", true],
  ['"007"', "VARCHAR", "007"],
])("[A1] %s keeps its value", async (text, type, value) => {
  expect(await read(`{"v": ${text}}`)).toEqual({ type, values: [value] });
});

test("[A1] times with and without an offset stay texts", async () => {
  const { type, values } = await read('{"v":"2024-01-01T00:00:00+02:00"}', '{"v":"2024-01-01T00:00:00"}');
  expect(type).toBe("VARCHAR");
  expect(values).toEqual(["2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00"]);
});

test("[A1] whole numbers beyond what doubles hold, among fractions, stay texts", async () => {
  const { type, values } = await read('{"v":9007199254740993}', '{"v":0.5}');
  expect(type).toBe("VARCHAR");
  expect(values).toEqual(["9007199254740993", "0.5"]);
});

test("[A1] whole numbers of both signs beyond 64 bits are decimals", async () => {
  expect((await read('{"v":18446744073709551615}', '{"v":-1}')).type).toBe("DECIMAL(38,0)");
});

test.each([
  ["1", "2.5"],
  ["1.5", "1e400"],
  ['"2024-01-01"', '"2024-01-01T10:00:00"'],
])("[A18] %s and, below the sample, %s: an error with file and line", async (usual, odd) => {
  const lines = Array.from({ length: 45_000 }, () => `{"v":${usual}}`);
  await expect(read(...lines, `{"v":${odd}}`)).rejects.toThrow(/\.json, line 45001: .* is no value of column "v"/);
});

test("[A1] keys that differ only in case, and an empty one, are an error and not null", async () => {
  await expect(read('{"v":1,"V":2}')).rejects.toThrow(/the keys "v" and "V", which cannot be columns/);
  await expect(read('{"":1,"v":2}')).rejects.toThrow(
    /the key "", which cannot be a column|the key "", which cannot be columns/,
  );
});
