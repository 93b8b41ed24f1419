/** A read as one table: the columns, types and rows of its splits together, for a kernel with all threads. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { insideOf } from "../../src/dataset/core.ts";
import {
  col,
  type Dataset,
  fromItems,
  range,
  readBinary,
  readCsv,
  readJson,
  readParquet,
  readText,
} from "../../src/dataset/index.ts";
import type { OpenSource, ScanRequest } from "../../src/plan/index.ts";
import { engine, folder } from "./people.ts";

const everything: ScanRequest = { columns: null, filters: [], samples: [], limit: null };
const path = (...parts: string[]) => join(folder, ...parts);

beforeAll(() => {
  const copy = (query: string, to: string, options = "") =>
    engine.connection.execute(`COPY (${query}) TO '${to}' (FORMAT parquet${options})`);
  copy("SELECT i AS id, 'x' || i AS s FROM range(30000) t(i)", path("plain.parquet"), ", ROW_GROUP_SIZE 4096");
  for (const [year, city] of [
    ["2023", "Oslo"],
    ["2024", "Oslo"],
    ["2024", "__HIVE_DEFAULT_PARTITION__"],
  ] as const) {
    mkdirSync(path("hive", `year=${year}`, `city=${city}`), { recursive: true });
    copy(
      `SELECT i AS id, i % 3 = 0 AS f FROM range(500) t(i)`,
      path("hive", `year=${year}`, `city=${city}`, "a.parquet"),
    );
  }
  mkdirSync(path("mixed"));
  copy("SELECT 1::INTEGER AS x, 'a' AS y", path("mixed", "1.parquet"));
  copy("SELECT 'b' AS y, 2.5::DOUBLE AS x", path("mixed", "2.parquet"));
  mkdirSync(path("csv", "part=1"), { recursive: true });
  mkdirSync(path("csv", "part=2"), { recursive: true });
  writeFileSync(path("csv", "part=1", "a.csv"), "n,t\n1,one\n2,\n");
  writeFileSync(path("csv", "part=2", "b.csv"), 'n,t\n3,"th ""ree"\n');
  writeFileSync(path("a.json"), '{"a": 1, "b": [1, 2]}\n{"a": null}\n');
  writeFileSync(path("b.json"), '[{"a": 3, "c": "x"}]');
  writeFileSync(path("lines.txt"), "one\ntwo\r\n\nfour");
});

async function opened(ds: Dataset): Promise<OpenSource> {
  const { plan } = insideOf(ds);
  if (plan.kind !== "scan") throw new Error("this is no read");
  return plan.source.open();
}

function answer(sql: string): { readonly types: unknown; readonly rows: readonly string[] } {
  const query = `SELECT * FROM ${sql}`;
  const types = engine.connection.describe(query).fields.map(({ name, type }) => ({ name, type }));
  return {
    types,
    rows: engine.connection
      .all(query)
      .map((row) => JSON.stringify(row))
      .sort(),
  };
}

async function compared(ds: Dataset, request: Partial<ScanRequest> = {}) {
  const open = await opened(ds);
  const asked = { ...everything, ...request };
  const whole = await open.whole?.(asked);
  if (whole === null || whole === undefined || whole.sql === null) throw new Error("it cannot be read as one table");
  const { splits, skipped } = await open.splits(asked);
  const parts = splits.map((split) => (split.kind === "sql" ? `(SELECT * FROM ${split.sql})` : "no SQL"));
  const made = answer(whole.sql);
  expect(made).toEqual(answer(`(${parts.join(" UNION ALL ")})`));
  return { whole, splits, skipped, rows: made.rows.length };
}

describe("[D6] a read as one table", () => {
  test("[D6] Parquet files, with types and paths", async () => {
    const plain = await compared(readParquet(engine, path("plain.parquet"), { overrideNumBlocks: 5 }));
    expect(plain).toMatchObject({ rows: 30000, splits: { length: 5 } });
    expect(plain.whole.sql).toBe(`read_parquet(['${path("plain.parquet")}'], hive_partitioning=false)`);
    await compared(readParquet(engine, path("plain.parquet"), { includePaths: true, schema: { id: "DOUBLE" } }));
    expect(await compared(readParquet(engine, path("mixed")))).toMatchObject({ rows: 2 });
  });

  test("[D6] partitions are columns, and conditions on them leave out files", async () => {
    expect(await compared(readParquet(engine, path("hive")))).toMatchObject({ rows: 1500 });
    const filters = [col("year").eq(2024).expression];
    const some = await compared(readParquet(engine, path("hive")), { filters });
    expect(some).toMatchObject({ rows: 1000, whole: { skipped: { files: 1 } } });
    expect(some.whole.sql).not.toContain("year=2023");
    const none = await opened(readParquet(engine, path("hive")));
    const nothing = await none.whole?.({ ...everything, filters: [col("year").eq(1999).expression] });
    expect(nothing).toMatchObject({ sql: null, skipped: { files: 3 } });
  });

  test("[D6] statistics leave out files, and say how many row groups the kernel will", async () => {
    const filters = [col("id").lt(5000).expression];
    const open = await opened(readParquet(engine, path("plain.parquet")));
    const whole = await open.whole?.({ ...everything, filters });
    const { skipped } = await open.splits({ ...everything, filters });
    expect(whole?.skipped).toEqual(skipped);
    expect(skipped.rowGroups).toBeGreaterThan(3);
    const out = await open.whole?.({ ...everything, filters: [col("id").lt(-1).expression] });
    expect(out).toMatchObject({ sql: null, skipped: { rowGroups: 8, rows: 30_000 } });
  });

  test("[D6] samples keep the same rows, and a stretch of a read only its own", async () => {
    const samples = [{ fraction: 0.3, seed: 5 }];
    const sampled = await compared(readParquet(engine, path("plain.parquet"), { overrideNumBlocks: 4 }), { samples });
    expect(sampled.rows).toBeGreaterThan(8000);
    expect(sampled.rows).toBeLessThan(10000);
    await compared(range(engine, 10_000), { samples });
    const cut = await (await opened(readParquet(engine, path("plain.parquet"), { overrideNumBlocks: 6 }))).cut();
    const stretch = cut.stretch(1, 3);
    const whole = await stretch.whole?.(everything);
    expect(answer(whole?.sql ?? "").rows.length).toBe(await stretch.countRows());
  });

  test("[D6] CSV, JSON, text, whole files and numbers", async () => {
    expect(await compared(readCsv(engine, path("csv"), { includePaths: true }))).toMatchObject({ rows: 3 });
    await compared(readCsv(engine, path("csv"), { schema: { n: "DOUBLE" } }), {
      filters: [col("part").eq(2).expression],
    });
    expect(await compared(readJson(engine, [path("a.json"), path("b.json")]))).toMatchObject({ rows: 3 });
    expect(await compared(readText(engine, path("lines.txt"), { includePaths: true }))).toMatchObject({ rows: 4 });
    expect(await compared(readBinary(engine, path("lines.txt")))).toMatchObject({ rows: 1 });
    expect(await compared(range(engine, 100_000))).toMatchObject({ rows: 100_000 });
  });

  test("blocks have none", async () => {
    expect((await opened(fromItems(engine, [{ a: 1 }]))).whole).toBeUndefined();
  });
});
