import { expect, test } from "vitest";
import { sliceBatch } from "../../src/arrow/index.ts";
import { ChunkPool, TableMemory } from "../../src/kernel/table-memory.ts";
import { addressOfBuffer } from "../../src/native/index.ts";
import { collect, rowsOf, withKernel } from "./batches.ts";

const LARGE = 1 << 20;

test("a large buffer of JavaScript's own is read where it lies, a small one is copied", () => {
  const memory = new TableMemory(new ChunkPool(0));
  const buffer = new ArrayBuffer(LARGE + 64);
  const bytes = new Uint8Array(buffer, 0, LARGE);
  expect(memory.place(bytes, 0, LARGE)).toBe(addressOfBuffer(buffer));
  expect(memory.place(bytes, 16, LARGE - 16)).toBe(addressOfBuffer(buffer) + 16);
  expect(memory.place(bytes, 0, 1024)).not.toBe(addressOfBuffer(buffer));
  memory.free();
});

test("a large buffer is copied where its values are not aligned, or where reading past its end would leave it", () => {
  const memory = new TableMemory(new ChunkPool(0));
  const whole = new Uint8Array(LARGE);
  const address = addressOfBuffer(whole.buffer);
  for (const [start, length] of [
    [0, LARGE],
    [4, LARGE - 8],
  ] as const) {
    const placed = memory.place(whole, start, length);
    expect(placed < address || placed >= address + LARGE).toBe(true);
  }
  memory.free();
});

test("large batches in JavaScript's memory, cut anywhere, give the rows they hold", () => {
  withKernel(1, (connection) => {
    const source = `SELECT i AS k, i / 3 AS v, CASE WHEN i % 7 = 0 THEN NULL ELSE 'a longer text of row ' || i END AS s,
      CASE WHEN i % 5 = 0 THEN NULL ELSE i % 2 = 0 END AS b FROM range(400_000) t(i)`;
    const batch = collect(connection, source);
    const sums =
      "count(*) AS n, sum(k)::BIGINT AS k, sum(v)::BIGINT AS v, sum(hash(s) % 1000)::BIGINT AS s, count(s) AS t, count_if(b) AS b, count(b) AS c";
    for (const [start, end] of [
      [0, 400_000],
      [1, 399_999],
      [12_345, 387_654],
    ] as const) {
      const table = connection.table([sliceBatch(batch, start, end)]);
      const [found] = rowsOf(connection, `SELECT ${sums} FROM ${table.sql}`);
      table.release();
      const [expected] = rowsOf(connection, `SELECT ${sums} FROM (${source}) WHERE k >= ${start} AND k < ${end}`);
      expect(found).toEqual(expected);
    }
  });
});
