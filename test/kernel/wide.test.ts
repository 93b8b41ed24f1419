/** Tables and results of very many columns come in small chunks, and hold the rows that they would hold otherwise. */
import { expect, test } from "vitest";
import { chunkRows, countedForVectors } from "../../src/kernel/wide.ts";
import { collect, withKernel } from "./batches.ts";

const COLUMNS = 1_500;
const ROWS = 3_000;
const wide = `SELECT ${Array.from({ length: COLUMNS }, (_, i) => `CASE WHEN r % 7 = 0 THEN NULL ELSE r * ${i} END AS c${i}`).join(", ")} FROM range(${ROWS}) t(r)`;

test("[D1] the wider the rows, the fewer at a time; the values of a chunk stay about as many", () => {
  expect([1, 100, 1_000].map(chunkRows)).toEqual([2048, 2048, 2048]);
  expect([1_250, 5_000, 20_000].map(chunkRows)).toEqual([1024, 256, 64]);
  expect(chunkRows(1_000_000)).toBe(64);
  expect(countedForVectors(1_000)).toBe(0);
  expect(countedForVectors(10_000)).toBe(2 * countedForVectors(5_000));
});

test("[D1] a table of 1,500 columns is shown in small chunks, with all of its rows in order", () => {
  withKernel(1, (connection) => {
    const batch = collect(connection, wide);
    const table = connection.table([batch]);
    try {
      const stream = connection.query(`SELECT * FROM ${table.sql}`);
      const lengths: number[] = [];
      for (let chunk = stream.next(); chunk !== null; chunk = stream.next()) lengths.push(chunk.length);
      stream.close();
      expect(Math.max(...lengths)).toBe(chunkRows(COLUMNS));
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(ROWS);
      expect(connection.all(`SELECT c0, c7, c${COLUMNS - 1} AS last FROM ${table.sql}`)).toEqual(
        Array.from({ length: ROWS }, (_, r) =>
          r % 7 === 0 ? { c0: null, c7: null, last: null } : { c0: 0, c7: 7 * r, last: r * (COLUMNS - 1) },
        ),
      );
    } finally {
      table.release();
    }
  });
});

test("[D1] a narrow table is shown in small chunks to a statement that makes many columns of it", () => {
  withKernel(1, (connection) => {
    const table = connection.table([collect(connection, "SELECT r FROM range(3000) t(r)")], undefined, 5_000);
    try {
      const stream = connection.query(`SELECT r FROM ${table.sql}`);
      expect(stream.next()?.length).toBe(256);
      stream.close();
    } finally {
      table.release();
    }
  });
});
