/** Every source against real files and the real kernel, without processes. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { arrowFileWriter, columnsToBatch } from "../../src/arrow/index.ts";
import {
  col,
  fromArrow,
  fromItems,
  range,
  readArrow,
  readBinary,
  readCsv,
  readJson,
  readParquet,
  readText,
} from "../../src/dataset/index.ts";
import { OptionError, RowShapeError, SourceError, UnknownColumnError } from "../../src/errors/index.ts";
import { quoteText } from "../../src/plan/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-sources-"));
const engine = new InProcessEngine();
const at = (name: string) => join(folder, name);
const file = (name: string, text: string | Uint8Array) => {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(at(name), text);
  return at(name);
};
const sql = (text: string) => engine.connection.execute(text);

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
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("[A1] paths", () => {
  test("[A1] a folder is read recursively, without hidden and underscore names", async () => {
    file("tree/b/2.txt", "two");
    file("tree/a/1.txt", "one");
    file("tree/_SUCCESS", "no");
    file("tree/.hidden/3.txt", "no");
    file("tree/b/.part.crc", "no");
    expect(await readText(engine, at("tree")).takeAll()).toEqual([{ text: "one" }, { text: "two" }]);
  });

  test("[A1] patterns: *, **, ?, [..] and {a,b}", async () => {
    for (const name of ["g/x1.txt", "g/x2.txt", "g/y1.txt", "g/deep/er/x3.txt", "g/z.csv"]) file(name, name);
    const read = async (pattern: string) => (await readText(engine, at(pattern)).takeAll()).map((row) => row.text);
    expect(await read("g/x*.txt")).toEqual(["g/x1.txt", "g/x2.txt"]);
    expect(await read("g/?1.txt")).toEqual(["g/x1.txt", "g/y1.txt"]);
    expect(await read("g/[x-y]1.txt")).toEqual(["g/x1.txt", "g/y1.txt"]);
    expect(await read("g/[!y]1.txt")).toEqual(["g/x1.txt"]);
    expect(await read("g/{x1,y1}.txt")).toEqual(["g/x1.txt", "g/y1.txt"]);
    expect(await read("g/**/x*.txt")).toEqual(["g/deep/er/x3.txt", "g/x1.txt", "g/x2.txt"].sort());
    expect(await read("g/**")).toHaveLength(5);
    expect(await read("g/d*")).toEqual(["g/deep/er/x3.txt"]);
  });

  test("[A1] an array of paths, each file once", async () => {
    file("l/1.txt", "1");
    file("l/2.txt", "2");
    const rows = await readText(engine, [at("l/2.txt"), at("l"), new URL(`file://${at("l/1.txt")}`)]).takeAll();
    expect(rows.map((row) => row.text)).toEqual(["2", "1"]);
  });

  test("[A1] a name that looks like a pattern but exists is itself", async () => {
    expect(await readText(engine, file("odd[1].txt", "odd")).takeAll()).toEqual([{ text: "odd" }]);
  });

  const hostile = [
    "report[1]",
    "report1",
    "a*",
    "ab",
    "q?",
    "qz",
    "[!a]",
    "]x[",
    "{x,y}",
    "x",
    "back\\slash",
    "per%20cent",
    "it's",
  ];

  test.each(["txt", "bin", "csv", "json", "parquet"])(
    "[A1] names with the characters of patterns are read once each, as listed: %s",
    async (format) => {
      const directory = `hostile-${format}`;
      for (const name of hostile) {
        const path = file(`${directory}/${name}.${format}`, format === "csv" ? `v\n${name}\n` : name);
        if (format === "json") writeFileSync(path, JSON.stringify({ v: name }));
        if (format === "parquet") {
          sql(`COPY (SELECT ${quoteText(name)} AS v) TO ${quoteText(at("plain.parquet"))}`);
          renameSync(at("plain.parquet"), path);
        }
      }
      const read = (path: string) => {
        if (format === "txt") return readText(engine, path).map(({ text }) => ({ v: text }));
        if (format === "bin")
          return readBinary(engine, path).map(({ bytes }) => ({ v: String.fromCharCode(...bytes) }));
        if (format === "csv") return readCsv(engine, path, { header: true, allText: true, delimiter: "|" });
        return format === "json" ? readJson(engine, path) : readParquet(engine, path);
      };
      const values = async (path: string) => (await read(path).takeAll()).map(({ v }) => String(v)).sort();
      expect(await values(at(directory))).toEqual([...hostile].sort());
      for (const name of hostile) expect(await values(at(`${directory}/${name}.${format}`))).toEqual([name]);
      // All rows at once are read by another SQL text.
      const sorted = await read(at(directory)).sort("v").takeAll();
      expect(sorted.map(({ v }) => v)).toHaveLength(hostile.length);
    },
  );

  test("[A1] partition folders whose values have the characters of patterns", async () => {
    for (const value of ["*", "1", "[1]", "?"]) file(`odd-values/k=${value}/a.csv`, `v\nof ${value}\n`);
    const rows = await readCsv(engine, at("odd-values"), { header: true }).takeAll();
    expect(rows.map(({ k, v }) => `${k} ${v}`).sort()).toEqual(["* of *", "1 of 1", "? of ?", "[1] of [1]"]);
    expect(await readCsv(engine, at("odd-values"), { header: true }).filter(col("k").eq("*")).takeAll()).toEqual([
      { v: "of *", k: "*" },
    ]);
  });

  test("[A1] a bracket in a pattern is written [[]; a range that ends before it begins is refused", async () => {
    file("brackets/a[1].txt", "bracket");
    file("brackets/a1.txt", "plain");
    expect(await readText(engine, at("brackets/a[[]*.txt")).takeAll()).toEqual([{ text: "bracket" }]);
    await expect(readText(engine, at("brackets/[z-a].txt")).takeAll()).rejects.toThrow(OptionError);
  });

  test("[A1] a path that the kernel cannot be asked for is refused by name", async () => {
    const path = file("back\\and[1].txt", "both");
    await expect(readText(engine, path).takeAll()).rejects.toMatchObject({ name: "SourceError", path });
  });

  test("[A1] no match names the path", async () => {
    await expect(readText(engine, at("nothing/*.txt")).takeAll()).rejects.toThrow(SourceError);
    await expect(readText(engine, at("nothing/*.txt")).takeAll()).rejects.toThrow(/nothing\/\*\.txt/);
    await expect(readParquet(engine, at("none.parquet")).count()).rejects.toMatchObject({ path: at("none.parquet") });
  });

  test("[A1] a link that leads back up does not go round for ever", async () => {
    file("loop/in/1.txt", "1");
    symlinkSync(at("loop"), at("loop/in/again"));
    expect(await readText(engine, at("loop")).takeAll()).toEqual([{ text: "1" }]);
  });

  test("[A1] a remote path is refused", () => {
    expect(() => readParquet(engine, "s3://bucket/x.parquet")).toThrow(SourceError);
  });
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
      /2\.parquet has column "extra", which .*1\.parquet has not\. With unionByName: true/,
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

describe("[A1] readCsv", () => {
  test("[A1] types are found, columns matched by name", async () => {
    file("csv/1.csv", 'a,b,c\n1,x,2020-01-01\n2,"y,z",\n');
    file("csv/2.csv", "b,a,c\nq,7,2021-01-01\n");
    const ds = readCsv(engine, at("csv"));
    expect((await ds.schema()).toString()).toBe("a: BIGINT\nb: VARCHAR\nc: DATE");
    expect(await ds.takeAll()).toEqual([
      { a: 1, b: "x", c: new Date("2020-01-01") },
      { a: 2, b: "y,z", c: null },
      { a: 7, b: "q", c: new Date("2021-01-01") },
    ]);
  });

  test("[A1] options: delimiter, header, nullValues, schema, skip, includePaths", async () => {
    const path = file("semi.csv", "# made by hand\n1;-;x\n2;5;y\n");
    const ds = readCsv(engine, path, {
      delimiter: ";",
      header: false,
      skip: 1,
      nullValues: "-",
      schema: { id: "INTEGER", n: "DOUBLE", s: "VARCHAR" },
      includePaths: true,
    });
    expect(await ds.takeAll()).toEqual([
      { id: 1, n: null, s: "x", path },
      { id: 2, n: 5, s: "y", path },
    ]);
  });

  test("[A1] without a header the delimiter is still found out", async () => {
    const path = file("pipes.csv", "1|x\n2|y\n");
    const ds = readCsv(engine, path, { header: false, schema: { n: "INTEGER", s: "VARCHAR" } });
    expect(await ds.takeAll()).toEqual([
      { n: 1, s: "x" },
      { n: 2, s: "y" },
    ]);
  });

  test("[A1] an empty file has no rows, next to others and alone", async () => {
    file("csv-empty/0.csv", "");
    file("csv-empty/1.csv", "a\n1\n");
    expect(await readCsv(engine, at("csv-empty")).takeAll()).toEqual([{ a: 1 }]);
    expect(await readCsv(engine, at("csv-empty/0.csv")).takeAll()).toEqual([]);
  });

  test("[A1] a bad value names the file and the line", async () => {
    const path = file("broken.csv", `a,b\n${"1,2\n".repeat(30000)}x,2\n`);
    await expect(readCsv(engine, path, { schema: { a: "BIGINT" } }).takeAll()).rejects.toThrow(
      /broken\.csv, line 30002: "x" is no value of column "a"/,
    );
    expect(await readCsv(engine, path, { schema: { a: "BIGINT" }, ignoreErrors: true }).count()).toBe(30000);
  });

  test("[A1] an unknown option says the nearest one", () => {
    // @ts-expect-error the option does not exist
    expect(() => readCsv(engine, at("csv"), { delimeter: ";" })).toThrow(/Did you mean "delimiter"/);
    expect(() => readCsv(engine, at("csv"), { schema: { a: "INT; DROP TABLE x" } })).toThrow(OptionError);
  });
});

describe("[A1] readJson", () => {
  test("[A1] a value a line and arrays, sparse keys are null", async () => {
    file("json/1.ndjson", '{"a":1,"b":"x"}\n{"a":2.5,"c":[1,2]}\n');
    file("json/2.json", '[{"a":3},{"a":4,"b":"y"}]');
    expect(await readJson(engine, at("json")).takeAll()).toEqual([
      { a: 1, b: "x", c: null },
      { a: 2.5, b: null, c: [1, 2] },
      { a: 3, b: null, c: null },
      { a: 4, b: "y", c: null },
    ]);
  });

  test("[A1] a key that only the last of many files has is a column", async () => {
    for (let i = 0; i < 40; i++) file(`json-many/${i + 100}.json`, i < 39 ? '{"a":1}\n' : '{"a":1,"late":"x"}\n');
    const rows = await readJson(engine, at("json-many")).takeAll();
    expect(rows.at(-1)).toEqual({ a: 1, late: "x" });
    expect(rows[0]).toEqual({ a: 1, late: null });
  });

  test("[A1] a broken line names the file", async () => {
    const path = file("broken.ndjson", '{"a":1}\n{"a":\n');
    await expect(readJson(engine, path).takeAll()).rejects.toThrow(/broken\.ndjson/);
  });

  test("[A1] values that are no objects are refused", async () => {
    await expect(readJson(engine, file("plain.json", "1\n2\n")).takeAll()).rejects.toThrow(SourceError);
  });

  test("[A1] a declared column that no sampled value has", async () => {
    const path = file("declared.ndjson", '{"a":1}\n');
    expect(await readJson(engine, path, { schema: { a: "VARCHAR", z: "DATE" } }).takeAll()).toEqual([
      { a: "1", z: null },
    ]);
  });
});

describe("[A1] readText, readBinary, readArrow", () => {
  test("[A1] a row a line, whatever the line ends", async () => {
    const path = file("lines.txt", 'one\n\n  two "quoted" , x\r\nthree\tt\\\n\nété\nlast\n');
    const rows = await readText(engine, path).takeAll();
    expect(rows.map((row) => row.text)).toEqual(["one", "", '  two "quoted" , x', "three\tt\\", "", "été", "last"]);
    expect(await readText(engine, file("empty.txt", "")).takeAll()).toEqual([]);
    expect(await readText(engine, file("end.txt", "a\n\n"), { includePaths: true }).takeAll()).toEqual([
      { text: "a", path: at("end.txt") },
      { text: "", path: at("end.txt") },
    ]);
  });

  test("[A1] a large text file is streamed with the same answer", async () => {
    const line = `${"x".repeat(999)}\n`;
    const path = file("large.txt", `"first,\n\n${line.repeat(36_000)}last`);
    const rows = await readText(engine, path).takeAll();
    expect(rows).toHaveLength(36_003);
    expect([rows[0]?.text, rows[1]?.text, rows[2]?.text.length, rows.at(-1)?.text]).toEqual([
      '"first,',
      "",
      999,
      "last",
    ]);
  });

  test("[A1] a file as path and bytes", async () => {
    const path = file("bin/a.bin", new Uint8Array([0, 255, 7]));
    file("bin/b.bin", new Uint8Array(0));
    const rows = await readBinary(engine, at("bin")).takeAll();
    expect(rows.map((row) => [row.path, [...row.bytes]])).toEqual([
      [path, [0, 255, 7]],
      [at("bin/b.bin"), []],
    ]);
  });

  test("[A1] Arrow files; a schema without reading them, an error that names a foreign one", async () => {
    const batch = columnsToBatch({ x: Int32Array.of(1, 2, 3), s: ["a", null, "c"] });
    const writer = arrowFileWriter(batch.schema);
    file("ipc/1.arrow", Buffer.concat([writer.header(), writer.batch(batch), writer.footer()]));
    const ds = readArrow(engine, at("ipc"));
    expect((await ds.schema()).toString()).toBe("x: INTEGER\ns: VARCHAR");
    expect(await ds.where(col("x").gt(1)).takeAll()).toEqual([
      { x: 2, s: null },
      { x: 3, s: "c" },
    ]);
    await expect(readArrow(engine, file("foreign.arrow", "this is no arrow file")).count()).rejects.toThrow(
      /foreign\.arrow/,
    );
  });
});

describe("[A1] readArrow with folders, paths and types", () => {
  test("[A18] files of several schemas: by name, in common types, with unionByName the columns of all", async () => {
    const arrow = (name: string, columns: Parameters<typeof columnsToBatch>[0]) => {
      const batch = columnsToBatch(columns);
      const writer = arrowFileWriter(batch.schema);
      file(name, Buffer.concat([writer.header(), writer.batch(batch), writer.footer()]));
    };
    arrow("ipc-mixed/1.arrow", { x: Int32Array.of(1), s: ["a"] });
    arrow("ipc-mixed/2.arrow", { s: ["b"], x: Float64Array.of(0.5) });
    expect(await readArrow(engine, at("ipc-mixed")).takeAll()).toEqual([
      { x: 1, s: "a" },
      { x: 0.5, s: "b" },
    ]);
    arrow("ipc-mixed/3.arrow", { s: ["c"], y: Int32Array.of(7) });
    await expect(readArrow(engine, at("ipc-mixed")).count()).rejects.toThrow(
      /3\.arrow has no column "x", which .* has, and has column "y", which .* has not\. With unionByName: true/,
    );
    const all = readArrow(engine, at("ipc-mixed"), { unionByName: true, includePaths: true });
    expect((await all.schema()).toString()).toBe("x: DOUBLE\ns: VARCHAR\ny: INTEGER\npath: VARCHAR");
    expect(await all.drop("path").takeAll()).toEqual([
      { x: 1, s: "a", y: null },
      { x: 0.5, s: "b", y: null },
      { x: null, s: "c", y: 7 },
    ]);
    expect(await readArrow(engine, at("ipc-mixed"), { columns: ["s"] }).count()).toBe(3);
  });

  test("[A1] partition folders become columns, and leave out files", async () => {
    for (const [k, x] of [
      ["1", 10],
      ["2", 20],
      ["__HIVE_DEFAULT_PARTITION__", 30],
    ] as const) {
      const batch = columnsToBatch({ x: Int32Array.of(x) });
      const writer = arrowFileWriter(batch.schema);
      file(`ipc-hive/k=${k}/a.arrow`, Buffer.concat([writer.header(), writer.batch(batch), writer.footer()]));
    }
    const ds = readArrow(engine, at("ipc-hive"));
    expect((await ds.schema()).toString()).toBe("x: INTEGER\nk: BIGINT");
    expect(await ds.takeAll()).toEqual([
      { x: 10, k: 1 },
      { x: 20, k: 2 },
      { x: 30, k: null },
    ]);
    const one = ds.where(col("k").eq(2)).map((row) => ({ ...row, y: 1 }));
    expect(await one.takeAll()).toEqual([{ x: 20, k: 2, y: 1 }]);
    expect(one.stats().operators[0]).toMatchObject({ name: "readArrow->filter->map", skipped: { files: 2 } });
    const paths = readArrow(engine, at("ipc-hive/k=1"), {
      includePaths: true,
      schema: { x: "VARCHAR" },
      columns: ["x"],
    });
    expect(await paths.takeAll()).toEqual([{ x: "10", path: at("ipc-hive/k=1/a.arrow") }]);
  });
});

describe("[A1] sources in the program", () => {
  test("[A1] range with start, end and step", async () => {
    const ids = async (ds: ReturnType<typeof range>) => (await ds.takeAll()).map((row) => row.id);
    expect(await ids(range(engine, 4))).toEqual([0, 1, 2, 3]);
    expect(await ids(range(engine, 5, 8))).toEqual([5, 6, 7]);
    expect(await ids(range(engine, 0, 10, 3))).toEqual([0, 3, 6, 9]);
    expect(await ids(range(engine, 5, 0, -2))).toEqual([5, 3, 1]);
    expect(await ids(range(engine, 0))).toEqual([]);
    expect(await ids(range(engine, 1000, { overrideNumBlocks: 7 }))).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(engine.jobs.at(-1)?.operators[0]).toMatchObject({ input: { splits: { length: 7 } } });
    expect(() => range(engine, 1.5)).toThrow(OptionError);
  });

  test("[A1] fromItems: values, nulls, nothing at all", async () => {
    const rows = [
      { a: 1, s: "x", l: [1, 2], d: new Date(5), n: null },
      { a: 2, s: null, l: [], d: null, n: null },
    ];
    expect(await fromItems(engine, rows).takeAll()).toEqual(rows);
    expect(await fromItems(engine, []).takeAll()).toEqual([]);
    expect(await fromItems(engine, []).count()).toBe(0);
    expect(() => fromItems(engine, [{ a: 1 }, { b: 1 }])).toThrow(RowShapeError);
    expect(await fromItems(engine, [{ a: 1 }], { schema: { a: "INTEGER" } }).schema()).toMatchObject({
      columns: [{ name: "a", type: "INTEGER" }],
    });
  });

  test("[A1] fromItems is cut into tasks and keeps its rows", async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({ i }));
    expect(await fromItems(engine, rows, { overrideNumBlocks: 9 }).takeAll()).toEqual(rows);
    expect(engine.jobs.at(-1)?.operators[0]).toMatchObject({ input: { splits: { length: 9 } } });
  });

  test("[A1] fromArrow takes a table and IPC bytes", async () => {
    const table = await fromItems(engine, [{ a: 1, b: "x" }]).toArrow();
    expect(await fromArrow(engine, table).takeAll()).toEqual([{ a: 1, b: "x" }]);
  });

  test("[A1] a wrong column is an error before anything runs", async () => {
    const jobs = engine.jobs.length;
    const ds = fromItems(engine, [{ price: 1 }]);
    // @ts-expect-error there is no such column
    await expect(ds.where(col("prize").gt(1)).takeAll()).rejects.toThrow(UnknownColumnError);
    expect(engine.jobs.length).toBe(jobs);
  });
});
