/** Reading very many columns in groups gives the same rows as reading them at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toRows } from "../../src/arrow/index.ts";
import { readWide, wideColumns } from "../../src/worker/wide-read.ts";
import { collect, withKernel } from "../kernel/batches.ts";

const input = { kind: "sql", sql: "range(1)", files: [] } as const;
const many = { kind: "sql", operator: "select", sql: `SELECT ${"1 AS a, ".repeat(2_000)}2 AS b FROM {input}` } as const;

test("[A18] only a task with many columns, and rows that it may hold, reads in groups", () => {
  expect(wideColumns({ ...input, wide: { columns: 5_000 } }, [])).toBe(5_000);
  expect(wideColumns({ ...input, wide: { columns: 1 } }, [many])).toBe(2_001);
  expect(wideColumns({ ...input, wide: { columns: 1_000 } }, [])).toBe(0);
  expect(wideColumns(input, [many])).toBe(0);
});

test("[A18] columns of a Parquet file that are read in groups are those of one read: names, types, order, nulls", async () => {
  const directory = mkdtempSync(join(tmpdir(), "spillway-wide-"));
  try {
    await withKernel(1, async (connection) => {
      const file = join(directory, "wide.parquet");
      const columns = Array.from({ length: 1_100 }, (_, i) =>
        i % 3 === 0
          ? `'text ' || (r * ${i}) AS "c ${i}"`
          : `CASE WHEN r % 5 = 0 THEN NULL ELSE r / ${i} END AS "C${i}"`,
      );
      connection.execute(
        `COPY (SELECT ${columns.join(", ")} FROM range(2500) t(r)) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
      );
      const source = `read_parquet('${file}')`;
      const read = await readWide(connection, source, () => {});
      const expected = collect(connection, `SELECT * FROM ${source}`);
      expect(read.schema.fields.map(({ name, type }) => [name, type])).toEqual(
        expected.schema.fields.map(({ name, type }) => [name, type]),
      );
      expect(read.length).toBe(2_500);
      const rows = toRows(read);
      const wanted = toRows(expected);
      for (const at of [0, 1, 5, 2_047, 2_048, 2_499]) expect(rows[at]).toEqual(wanted[at]);
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("[A18] a source without rows gives its columns and no rows", async () => {
  await withKernel(1, async (connection) => {
    const read = await readWide(connection, "(SELECT 1 AS a, 'x' AS b WHERE false)", () => {});
    expect([read.length, read.columns.length, read.schema.fields.map(({ name }) => name)]).toEqual([0, 2, ["a", "b"]]);
  });
});
