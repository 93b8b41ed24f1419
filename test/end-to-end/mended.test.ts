/** What a trial of the whole found broken, each as the behaviour that it should have. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RowShapeError, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("mended");
const s = sessions.open();
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

describe("columns that only running tells", () => {
  const more = s.range(2).map((row) => ({ id: row.id, z: 1 }));

  test("[A6] a union of different columns is refused, whichever side has more and whoever reads", async () => {
    const fewer = s.range(2).map((row) => ({ id: row.id }));
    for (const ds of [more.union(fewer as never), fewer.union(more), more.union(s.range(2) as never)]) {
      await expect(ds.takeAll()).rejects.toThrow(RowShapeError);
      await expect(ds.takeAll()).rejects.toThrow(/union: the columns differ: "z" is in rows of .*map/);
      await expect(ds.writeParquet(fresh())).rejects.toThrow(/"z"/);
    }
  });

  test("[A6] a union of the same columns in another order is by name", async () => {
    const turned = s.range(2).map((row) => ({ z: 2, id: row.id }));
    const rows = await more.union(turned).takeAll();
    expect(rows.map(({ id, z }) => `${id}:${z}`).sort()).toEqual(["0:1", "0:2", "1:1", "1:2"]);
  });

  test("[A2] tasks of one function that return different columns are refused", async () => {
    const ragged = s.range(4, { overrideNumBlocks: 2 }).map((row) => (row.id < 2 ? { a: 1 } : { b: 1 }));
    await expect(ragged.takeAll()).rejects.toThrow(/Return the same columns for every row/);
  });
});

describe.each([
  ["after a function", s.range(10).map((row) => ({ id: row.id, k: 2024 + (row.id % 2) }))],
  ["without one", s.range(10, { overrideNumBlocks: 1 }).withColumn("k", sql("(2024 + id % 2)::DOUBLE"))],
])("partitions %s", (_, ds) => {
  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)(
    "[A11] write%s names folders of whole numbers without a fraction",
    async (format) => {
      const out = fresh();
      await ds[`write${format}`](out, { partitionBy: ["k"] });
      expect(readdirSync(out).sort()).toEqual(["k=2024", "k=2025"]);
      const back = await s[`read${format}`](out).takeAll();
      expect(back.map((row) => Number(row.id)).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(back.every((row) => Number(row.k) === 2024 + (Number(row.id) % 2))).toBe(true);
    },
  );

  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)(
    "[A11] write%s cuts files by rows within a partition, and no smaller",
    async (format) => {
      const out = fresh();
      const written = await ds.limit(10)[`write${format}`](out, { partitionBy: ["k"], maxRowsPerFile: 2 });
      expect(written.rows).toBe(10);
      expect(filesBelow(out).length).toBe(6);
      const counts = await Promise.all(filesBelow(out).map((file) => s[`read${format}`](join(out, file)).count()));
      expect(counts.sort()).toEqual([1, 1, 2, 2, 2, 2]);
    },
  );
});

test("[A11] a fraction in a partition stays, and nulls and infinities have their folders", async () => {
  const out = fresh();
  const keys = [1.5, 2, null, Number.POSITIVE_INFINITY];
  await s.fromItems(keys.map((k, id) => ({ id, k }))).writeParquet(out, { partitionBy: ["k"] });
  expect(readdirSync(out).sort()).toEqual(["k=1.5", "k=2", "k=__HIVE_DEFAULT_PARTITION__", "k=inf"]);
});

test("[A11] writeJson writes null for what JSON has no word for, at any depth", async () => {
  const out = fresh();
  const nan = Number.NaN;
  const item = {
    v: nan,
    list: [1, nan],
    nested: [{ deep: [Number.NEGATIVE_INFINITY] }],
    "a b": { w: 1.5 },
    none: null,
  };
  await s
    .fromItems([item])
    .map((row) => row)
    .writeJson(out);
  await s.fromItems([item]).withColumn("m", sql("MAP {'x': 'nan'::DOUBLE}")).writeJson(out, { mode: "append" });
  const lines = filesBelow(out).map((file) => JSON.parse(readFileSync(join(out, file), "utf8")));
  const plain = { v: null, list: [1, null], nested: [{ deep: [null] }], "a b": { w: 1.5 }, none: null };
  expect(lines).toContainEqual(plain);
  expect(lines).toContainEqual({ ...plain, m: { x: null } });
});

test("[A13] mapBatches gives Arrow tables the values that were asked for", async () => {
  const seen = (table: { getChild(name: string): { at(row: number): unknown } }, name: string) => {
    const value = table.getChild(name).at(0);
    return value instanceof Date ? "date" : typeof value;
  };
  const ds = s.range(1).withColumn("t", sql("TIMESTAMP '2024-01-01'"));
  const kinds = async (options: { int64?: "bigint" | "number"; timestamp?: "date" | "bigint" }) =>
    ds
      .mapBatches((table) => [{ id: seen(table as never, "id"), t: seen(table as never, "t") }], {
        batchFormat: "arrow",
        ...options,
      })
      .takeAll();
  expect(await kinds({})).toEqual([{ id: "number", t: "date" }]);
  expect(await kinds({ int64: "bigint", timestamp: "bigint" })).toMatchObject([{ id: "bigint" }]);
  expect(await kinds({ timestamp: "bigint" })).not.toMatchObject([{ t: "date" }]);
});
