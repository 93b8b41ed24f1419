import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { tableFromArrays, tableFromIPC, tableToIPC } from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { col, SourceError, sql } from "spillway";
import { beforeAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("sources");
const s = sessions.open({ preserveOrder: true });
const at = (...parts: string[]) => join(sessions.directory, ...parts);

beforeAll(async () => {
  mkdirSync(at("csv", "deep"), { recursive: true });
  writeFileSync(at("csv", "a.csv"), "id,name\n1,ann\n2,\n");
  writeFileSync(at("csv", "b.csv"), "id,name\n3,cid\n");
  writeFileSync(at("csv", "deep", "c.csv"), "id,name\n4,dan\n");
  writeFileSync(at("csv", "_ignored.csv"), "id,name\n99,no\n");
  writeFileSync(at("lines.ndjson"), '{"id": 1, "tags": ["a", "b"]}\n{"id": 2, "tags": []}\n');
  writeFileSync(at("array.json"), '[{"id": 3, "tags": ["c"]}, {"id": 4, "tags": null}]');
  writeFileSync(at("poem.txt"), "one\ntwo, with a comma\n\nfour");
  writeFileSync(at("bytes.bin"), Uint8Array.from([0, 255, 10]));
});

describe("sources", () => {
  test("[A1] range, with start and step", async () => {
    expect(await s.range(3).takeAll()).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
    expect(await s.range(10, 4, -3).takeAll()).toEqual([{ id: 10 }, { id: 7 }]);
  });

  test("[A1] fromItems takes rows with nested values and nulls", async () => {
    const rows = [
      { a: 1, when: new Date(5), deep: { x: [1, null], m: new Map([["k", true]]) } },
      { a: null, when: null, deep: null },
    ];
    expect(await s.fromItems<Record<string, unknown>>(rows).takeAll()).toEqual(rows);
  });

  test("[A1] fromArrow takes flechette tables, apache-arrow tables and IPC bytes", async () => {
    const table = tableFromArrays({ a: [1, 2, 3], b: ["x", null, "z"] });
    const wanted = [
      { a: 1, b: "x" },
      { a: 2, b: null },
      { a: 3, b: "z" },
    ];
    expect(await s.fromArrow(table).takeAll()).toEqual(wanted);
    expect(await s.fromArrow(tableToIPC(table, { format: "stream" })).takeAll()).toEqual(wanted);
    const theirs = apache.tableFromArrays({ a: Float64Array.from([1, 2, 3]), b: ["x", null, "z"] });
    expect(await s.fromArrow(theirs).takeAll()).toEqual(wanted);
  });

  test("[A1] readCsv: a file, a directory, a glob, an array of them", async () => {
    const ids = async (paths: string | string[]) => (await s.readCsv(paths).takeAll()).map((row) => row.id);
    expect(await ids(at("csv", "a.csv"))).toEqual([1, 2]);
    expect((await ids(at("csv"))).sort()).toEqual([1, 2, 3, 4]);
    expect(await ids(at("csv", "*.csv"))).toEqual([1, 2, 3]);
    expect((await ids(at("csv", "**", "*.csv"))).sort()).toEqual([1, 2, 3, 4]);
    expect(await ids([at("csv", "b.csv"), at("csv", "a.csv")])).toEqual([3, 1, 2]);
    expect(await s.readCsv(at("csv", "a.csv")).takeAll()).toEqual([
      { id: 1, name: "ann" },
      { id: 2, name: null },
    ]);
  });

  test("[A1] readJson takes lines and arrays", async () => {
    expect(await s.readJson(at("lines.ndjson")).takeAll()).toEqual([
      { id: 1, tags: ["a", "b"] },
      { id: 2, tags: [] },
    ]);
    expect(await s.readJson(at("array.json")).takeAll()).toEqual([
      { id: 3, tags: ["c"] },
      { id: 4, tags: null },
    ]);
  });

  test("[A1] [A9] tables without rows have columns, also beside those of a function", async () => {
    const id = new apache.Int32();
    const theirs = new apache.Table(new apache.Schema([new apache.Field("id", id, true)]));
    const none = {
      stream: s.fromArrow(apache.tableToIPC(theirs, "stream")),
      file: s.fromArrow(apache.tableToIPC(theirs, "file")),
      apache: s.fromArrow(theirs),
      flechette: s.fromArrow(tableFromIPC(apache.tableToIPC(theirs, "stream"))),
      kept: await s.range(3).where(col("id").gt(5)).materialize(),
    };
    for (const [name, empty] of Object.entries(none)) {
      expect((await empty.schema()).columns, name).toMatchObject([{ name: "id" }]);
      const made = s.range(2).map((row) => ({ n: row.id, missing: false }));
      const both = made.join(empty, { leftOn: "n", rightOn: "id", how: "left" });
      expect(await both.join(both, { on: "missing", how: "semi" }).takeAll(), name).toEqual([
        { n: 0, missing: false },
        { n: 1, missing: false },
      ]);
    }
    none.kept.dispose();
  });

  test("[A1] readText gives a row a line", async () => {
    const lines = (await s.readText(at("poem.txt")).takeAll()).map((row) => row.text);
    expect(lines).toEqual(["one", "two, with a comma", "", "four"]);
  });

  test("[A1] readBinary gives a row a file", async () => {
    const [row] = await s.readBinary(at("bytes.bin")).takeAll();
    expect(row?.path).toBe(at("bytes.bin"));
    expect(row?.bytes).toEqual(Uint8Array.from([0, 255, 10]));
  });

  test("[A1] hive partitions become columns, in every format", async () => {
    const ds = s.range(12).withColumn("k", sql("id % 3")).withColumn("t", sql("'v' || (id % 2)"));
    for (const format of ["Parquet", "Csv", "Json", "Arrow"] as const) {
      const out = at(`hive-${format}`);
      await ds[`write${format}`](out, { partitionBy: ["k", "t"] });
      const rows = await s[`read${format}`](out).takeAll();
      expect(rows.length, format).toBe(12);
      expect(
        rows.every((row) => row.k === row.id % 3 && row.t === `v${row.id % 2}`),
        format,
      ).toBe(true);
    }
  });

  test("[A1] a schema names partition columns whose folders are percent-encoded, in every format", async () => {
    const rows = [
      { "[x] %": "007", n: 1 },
      { "[x] %": "1", n: 2 },
    ];
    const schema = { "[x] %": "VARCHAR" };
    const partitionBy = "[x] %";
    const ds = s.fromItems(rows);
    await ds.writeCsv(at("odd-csv"), { partitionBy });
    await ds.writeJson(at("odd-json"), { partitionBy });
    await ds.writeParquet(at("odd-parquet"), { partitionBy });
    await ds.writeArrow(at("odd-arrow"), { partitionBy });
    for (const read of [
      s.readCsv(at("odd-csv"), { schema }),
      s.readJson(at("odd-json"), { schema }),
      s.readParquet(at("odd-parquet"), { schema }),
      s.readArrow(at("odd-arrow"), { schema }),
    ]) {
      expect(await read.sort("n").select("[x] %", "n").takeAll()).toEqual(rows);
    }
  });

  test("[A1] a Parquet file with the first and last instants of its unit is read", async () => {
    const file = fileURLToPath(new URL("data/edges-pyarrow.parquet", import.meta.url));
    const edges = ["-9223372036854775000", "0", "9223372036854775000"];
    const read = s.readParquet(file);
    expect(await read.count()).toBe(3);
    expect((await read.takeAll({ timestamp: "bigint" })).map(({ t }) => String(t))).toEqual(edges);
    expect(
      await read
        .where(col("t").gt(new Date(1)))
        .select("n")
        .takeAll(),
    ).toEqual([{ n: 2 }]);
    expect(await read.map(({ n }) => ({ n: n * 2 })).takeAll()).toEqual([{ n: 0 }, { n: 2 }, { n: 4 }]);
    await s.range(5).select(col("id").as("n"), sql("TIMESTAMP_NS '2020-01-01'").as("t")).writeParquet(at("ordinary"));
    expect(await s.readParquet([file, at("ordinary")]).count()).toBe(8);
  });

  test("[A1] far dates and timestamps that we wrote are read again with their types", async () => {
    const texts = [
      ["5877642-06-25 (BC)", "290309-12-22 (BC) 00:00:00"],
      ["5881580-07-10", "294247-01-10 04:00:54.775806"],
      ["infinity", "-infinity"],
      ["2024-02-29", "2024-02-29 12:34:56.789012"],
    ];
    const far = s
      .fromItems(texts.map(([day, at], n) => ({ n, day, at })))
      .withColumn("day", sql("CAST(day AS DATE)"))
      .withColumn("at", sql('CAST("at" AS TIMESTAMP)'));
    await far.writeCsv(at("far-csv"));
    await far.writeJson(at("far-json"));
    const schema = { day: "DATE", at: "TIMESTAMP" };
    for (const read of [s.readCsv(at("far-csv"), { schema }), s.readJson(at("far-json"), { schema })]) {
      const got = await read.sort("n").select(sql("day::VARCHAR").as("day"), sql('"at"::VARCHAR').as("at")).takeAll();
      expect(got).toEqual(texts.map(([day, at]) => ({ day, at })));
    }
  });

  test("[A1] CSV and JSON files take the same words for compression", async () => {
    for (const compression of ["none", "gzip", "zstd"] as const) {
      await s.range(3).writeCsv(at(`csv-${compression}`), { compression });
      await s.range(3).writeJson(at(`json-${compression}`), { compression });
      expect(await s.readCsv(at(`csv-${compression}`), { compression }).count()).toBe(3);
      expect(await s.readJson(at(`json-${compression}`), { compression }).count()).toBe(3);
    }
  });

  test("[A1] whatever JSON files are looked at for, it is with the options of the read", async () => {
    const packed = (name: string, text: string) => {
      writeFileSync(at(name), gzipSync(text));
      return s.readJson(at(name), { compression: "gzip", format: "ndjson" });
    };
    expect(await packed("one-key", '{"json": 1}\n').takeAll()).toEqual([{ json: 1 }]);
    expect(await packed("doubtful-keys", '{"a": 1, "a_1": 2}\n').takeAll()).toEqual([{ a: 1, a_1: 2 }]);
    await expect(packed("two-cases", '{"a": 1, "A": 2}\n').takeAll()).rejects.toThrow('the keys "a" and "A"');
  });

  test("[A1] columns, schema and includePaths", async () => {
    expect(await s.readCsv(at("csv", "a.csv"), { columns: ["name"] }).takeAll()).toEqual([
      { name: "ann" },
      { name: null },
    ]);
    const typed = s.readCsv(at("csv", "a.csv"), { schema: { id: "VARCHAR" } });
    expect((await typed.takeAll()).map((row) => row.id)).toEqual(["1", "2"]);
    const paths = await s.readCsv(at("csv", "*.csv"), { includePaths: true }).takeAll();
    expect(paths.map((row) => row.path)).toEqual([at("csv", "a.csv"), at("csv", "a.csv"), at("csv", "b.csv")]);
  });

  test("[A1] an Arrow file without a batch has its columns, for every operator", async () => {
    mkdirSync(at("arrow"));
    const empty = new apache.Table(new apache.Schema([new apache.Field("n", new apache.Int32(), true)]));
    for (const kind of ["file", "stream"] as const) {
      const path = at("arrow", `empty.${kind}`);
      writeFileSync(path, apache.tableToIPC(empty, kind));
      const ds = s.readArrow(path);
      expect(await ds.takeAll()).toEqual([]);
      expect(await ds.sample({ fraction: 0.5, seed: 1 }).takeAll()).toEqual([]);
      expect(await ds.where(sql("n > 1")).count()).toBe(0);
      expect(
        await ds
          .groupBy()
          .agg({ total: sql("count(n)") })
          .takeAll(),
      ).toEqual([{ total: 0 }]);
      expect(
        await ds
          .map((row) => ({ ...row }))
          .sort("n")
          .takeAll(),
      ).toEqual([]);
    }
  });

  test("[A1] overrideNumBlocks decides the number of tasks", async () => {
    const ds = s.range(100, { overrideNumBlocks: 7 }).map((row) => row);
    await ds.takeAll();
    expect(ds.stats().operators[0]?.tasks).toBe(7);
  });

  test("[A1] a bad schema, an unreadable file and an unknown option are named", async () => {
    await expect(s.readCsv(at("csv", "a.csv"), { schema: { id: "NUMBRE" } }).takeAll()).rejects.toThrow(/NUMBRE/);
    await expect(s.readParquet(at("poem.txt")).takeAll()).rejects.toThrow(at("poem.txt"));
    await expect(s.readParquet(at("poem.txt")).takeAll()).rejects.toBeInstanceOf(SourceError);
    await expect(s.readArrow(at("poem.txt")).takeAll()).rejects.toThrow(at("poem.txt"));
    // @ts-expect-error there is no such option
    expect(() => s.readCsv(at("csv"), { headers: true })).toThrow(/header/);
  });

  test("[A1] many small files are read in few tasks", async () => {
    mkdirSync(at("many"));
    for (let i = 0; i < 300; i++) writeFileSync(at("many", `f${String(i).padStart(3, "0")}.csv`), `id\n${i}\n`);
    const ds = s.readCsv(at("many")).map((row) => ({ id: row.id }));
    const rows = await ds.takeAll();
    expect(rows.map((row) => row.id).sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(ds.stats().operators[0]?.tasks).toBeLessThan(50);
  });
});

test("[A1] times with an offset come back as times from JSON, as writeJson writes them; empty texts stay texts", async () => {
  const times = s.range(2).withColumn("at", sql<Date>("TIMESTAMPTZ '2024-01-02 03:04:05.678+00' + INTERVAL (id) HOUR"));
  await times.writeJson(at("times"));
  const read = s.readJson<{ id: number; at: Date }>(at("times"));
  expect(String(await read.schema())).toBe("id: BIGINT\nat: TIMESTAMP WITH TIME ZONE");
  expect(await read.takeAll()).toEqual(await times.takeAll());
  writeFileSync(
    at("texts.json"),
    '{"a":"2024-01-02 03:04:05+00","b":"","c":null,"d":"12"}\n{"a":"","b":"","c":null,"d":"x"}\n',
  );
  expect(await s.readJson(at("texts.json")).select("a", "b", "d").takeAll()).toEqual([
    { a: "2024-01-02 03:04:05+00", b: "", d: "12" },
    { a: "", b: "", d: "x" },
  ]);
});

describe("files that are not whole", () => {
  const write = (name: string, content: string) => {
    const path = at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };

  test("[A1] a CSV file that lacks a column is named", async () => {
    write("lacking/a.csv", "id,b\n1,x\n");
    const path = write("lacking/b.csv", "id\n2\n");
    const apart = s.readCsv(at("lacking"), { overrideNumBlocks: 2 });
    await expect(apart.takeAll()).rejects.toMatchObject({ name: "SourceError", path });
    await expect(apart.takeAll()).rejects.toThrow(`${path} has no column "b"`);
    const together = s.readCsv(at("lacking"), { overrideNumBlocks: 1 });
    await expect(together.takeAll()).rejects.toThrow(`${path} has no column "b"`);
  });

  test("[A1] readJson with ignoreErrors leaves broken lines out, and keeps rows of nothing", async () => {
    const path = write("broken.json", '{"a b":1,"c":[1]}\nxx\n{"a b":3,"c":null}\n{}\n');
    const rows = await s.readJson(path, { ignoreErrors: true, includePaths: true }).takeAll();
    expect(rows.map((row) => row["a b"])).toEqual([1, 3, null]);
    expect(rows.every((row) => row.path === path)).toBe(true);
  });
});
