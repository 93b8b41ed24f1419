/** Parquet files against the real kernel, without processes: columns, tasks, and what is not read. */
import { mkdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { col, readParquet } from "../../src/dataset/index.ts";
import { kernelAndFiles } from "./kernel-and-files.ts";

const { engine, at, file, sql } = kernelAndFiles("parquet");

beforeAll(() => {
  mkdirSync(at("pq"), { recursive: true });
  sql(
    `COPY (SELECT i AS a, i * 0.5::DOUBLE AS price, 's' || (i % 7) AS s, DATE '2020-01-01' + (i // 1000)::INT AS d, CASE WHEN i % 3 = 0 THEN NULL ELSE i END AS n FROM range(100000) t(i)) TO '${at("pq/big.parquet")}' (ROW_GROUP_SIZE 10240)`,
  );
  mkdirSync(at("hive"), { recursive: true });
  sql(
    `COPY (SELECT i AS a, i % 3 AS k, CASE WHEN i % 2 = 0 THEN 'x y' END AS t FROM range(60) r(i)) TO '${at("hive")}' (FORMAT parquet, PARTITION_BY (k, t))`,
  );
});

describe("[A1] readParquet", () => {
  test("[A1] rows, schema and count", async () => {
    const ds = readParquet(engine, at("pq"));
    expect((await ds.schema()).columns).toEqual([
      { name: "a", type: "BIGINT" },
      { name: "price", type: "DOUBLE" },
      { name: "s", type: "VARCHAR" },
      { name: "d", type: "DATE" },
      { name: "n", type: "BIGINT" },
    ]);
    expect(await ds.count()).toBe(100000);
    const rows = await ds.takeAll();
    expect(rows).toHaveLength(100000);
    expect(rows[4097]).toEqual({ a: 4097, price: 2048.5, s: "s2", d: new Date("2020-01-05"), n: 4097 });
  });

  test("[R8] count and schema use metadata alone", async () => {
    const jobs = engine.jobs.length;
    await readParquet(engine, at("pq")).count();
    await readParquet(engine, at("pq")).select("a").limit(10).count();
    await readParquet(engine, at("pq")).where(col("a").gt(1)).withColumn("b", col("a").divide(2)).schema();
    expect(engine.jobs.length).toBe(jobs);
  });

  test("[A1] overrideNumBlocks is honoured, also within a row group", async () => {
    for (const blocks of [1, 3, 10, 37]) {
      const ds = readParquet(engine, at("pq"), { overrideNumBlocks: blocks, columns: ["a"] });
      expect((await ds.takeAll()).map((row) => row.a)).toEqual(Array.from({ length: 100000 }, (_, i) => i));
      expect(engine.jobs.at(-1)?.operators[0]).toMatchObject({ input: { splits: { length: blocks } } });
    }
  });

  test("[A1] hive partitions become typed columns, null partitions included", async () => {
    const ds = readParquet(engine, at("hive"));
    expect((await ds.schema()).toString()).toBe("a: BIGINT\nk: BIGINT\nt: VARCHAR");
    const rows = (await ds.takeAll()).sort((x, y) => x.a - y.a);
    expect(rows).toEqual(Array.from({ length: 60 }, (_, a) => ({ a, k: a % 3, t: a % 2 === 0 ? "x y" : null })));
  });

  test("[D6] a condition on partitions leaves out whole files", async () => {
    const ds = readParquet(engine, at("hive")).where(col("k").eq(1).and(col("t").isNull()).and(col("a").gt(10)));
    expect((await ds.takeAll()).map((row) => row.a).sort((x, y) => x - y)).toEqual([13, 19, 25, 31, 37, 43, 49, 55]);
    expect(ds.stats().operators[0]?.skipped.files).toBe(5);
    expect(await ds.explain()).toContain("partitions leave 1 of 6 files");
  });

  test("[D6] statistics leave out row groups; explain and stats say so", async () => {
    const ds = readParquet(engine, at("pq")).where(col("a").between(15000, 15010)).select("a");
    expect(await ds.takeAll()).toHaveLength(11);
    expect(ds.stats().operators[0]?.skipped).toEqual({ files: 0, rowGroups: 9, rows: 89760, columns: 4 });
    expect(await ds.explain()).toContain("statistics leave 1 of 10 row groups");
  });

  test("[D6] what is skipped never changes the answer", async () => {
    const conditions = [
      col("a").eq(10240),
      col("a").in([5, 99999, 200000]),
      col("price").gt(49990),
      col("price").le(0.5),
      col("d").ge(new Date("2020-04-09")),
      col("s").eq("s3").and(col("a").lt(20)),
      col("n").isNull().and(col("a").lt(9)),
      col("a").lt(3).or(col("a").gt(99997)),
      col("a").ne(5).and(col("a").le(7)),
      col("a").gt(1e9),
    ];
    for (const condition of conditions) {
      const skipping = await readParquet(engine, at("pq")).where(condition).select("a").takeAll();
      const all = await readParquet(engine, at("pq"))
        .map((row) => ({ ...row }))
        .where(condition)
        .select("a")
        .takeAll();
      expect(skipping).toEqual(all);
    }
  });

  test("[D6] row groups that a limit does not need are not read", async () => {
    const ds = readParquet(engine, at("pq"));
    expect(await ds.take(5)).toHaveLength(5);
    expect(ds.stats().operators[0]?.skipped.rowGroups).toBe(9);
  });

  test("[A1] columns, schema and includePaths", async () => {
    const ds = readParquet(engine, at("pq/big.parquet"), {
      columns: ["s", "a"],
      schema: { a: "DOUBLE" },
      includePaths: true,
    });
    expect((await ds.schema()).toString()).toBe("s: VARCHAR\na: DOUBLE\npath: VARCHAR");
    expect(await ds.take(1)).toEqual([{ s: "s0", a: 0, path: at("pq/big.parquet") }]);
    await expect(readParquet(engine, at("pq"), { columns: ["pricee"] }).take(1)).rejects.toThrow(
      /Did you mean "price"/,
    );
    await expect(readParquet(engine, at("pq"), { schema: { zz: "INT" } }).take(1)).rejects.toThrow(/schema names "zz"/);
  });

  test("[A1] a truncated and a foreign file are named", async () => {
    const whole = new Uint8Array(Buffer.from("PAR1 this is not much of a file"));
    const cut = file("bad/cut.parquet", whole.subarray(0, 20));
    await expect(readParquet(engine, at("bad")).count()).rejects.toMatchObject({ name: "SourceError", path: cut });
    const foreign = file("bad2/foreign.parquet", "hello");
    await expect(readParquet(engine, foreign).takeAll()).rejects.toThrow(/foreign\.parquet/);
  });

  test("[A18] files of different types are read in the type that holds all; other columns are an error that names the file", async () => {
    mkdirSync(at("mixed"), { recursive: true });
    sql(`COPY (SELECT 1::INTEGER AS x, 'a' AS y) TO '${at("mixed/1.parquet")}'`);
    sql(`COPY (SELECT 'b' AS y, 2::BIGINT AS x, 5 AS extra) TO '${at("mixed/2.parquet")}'`);
    await expect(readParquet(engine, at("mixed")).count()).rejects.toThrow(
      /2\.parquet has column "extra", which .*1\.parquet lacks\. With unionByName: true/,
    );
    const ds = readParquet(engine, at("mixed"), { columns: ["x", "y"] });
    expect((await ds.schema()).toString()).toBe("x: BIGINT\ny: VARCHAR");
    expect(await ds.takeAll()).toEqual([
      { x: 1, y: "a" },
      { x: 2, y: "b" },
    ]);
    sql(`COPY (SELECT 0.5::DOUBLE AS x) TO '${at("mixed/3.parquet")}'`);
    await expect(readParquet(engine, at("mixed"), { columns: ["x", "y"] }).count()).rejects.toThrow(
      /3\.parquet has no column "y"/,
    );
    const all = readParquet(engine, at("mixed"), { unionByName: true });
    expect((await all.schema()).toString()).toBe("x: DOUBLE\ny: VARCHAR\nextra: INTEGER");
    expect(await all.takeAll()).toEqual([
      { x: 1, y: "a", extra: null },
      { x: 2, y: "b", extra: 5 },
      { x: 0.5, y: null, extra: null },
    ]);
    expect(await all.where(col("extra").isNull()).count()).toBe(2);
    expect(await all.where(col("x").lt(1)).select("y", "x").takeAll()).toEqual([{ y: null, x: 0.5 }]);
  });
});
