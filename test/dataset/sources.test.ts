/** Text formats, Arrow files and sources in the program against the real kernel, without processes. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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
  readText,
} from "../../src/dataset/index.ts";
import { OptionError, RowShapeError, SourceError, UnknownColumnError } from "../../src/errors/index.ts";
import { kernelAndFiles } from "./kernel-and-files.ts";

const { engine, at, file } = kernelAndFiles("sources");

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
      /broken\.csv, line 30002: "x" does not fit column "a"/,
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

  test("[A1] objects without keys are no column: refused, or rows of the columns that are declared", async () => {
    for (const path of [file("no-keys.ndjson", "{}\n{}\n"), file("no-keys.json", "[{}, {}]")]) {
      await expect(readJson(engine, path).takeAll()).rejects.toThrow(
        /has objects without keys \(\{\}\).*schema: \{ name:/,
      );
      const declared = readJson(engine, path, { schema: { a: "INTEGER" } });
      expect(await declared.takeAll()).toEqual([{ a: null }, { a: null }]);
    }
    const none = file("none.json", "[]");
    expect((await readJson(engine, none).schema()).names).toEqual([]);
    expect(await readJson(engine, none, { includePaths: true }).takeAll()).toEqual([]);
    const named = readJson(engine, file("named.ndjson", '{}\n{"json":1}\n'));
    expect(await named.takeAll()).toEqual([{ json: null }, { json: 1 }]);
    file("no-rows/k=1/empty.json", "");
    expect(await readJson(engine, at("no-rows")).takeAll()).toEqual([]);
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
  test.each(["filename", "content"])(
    '[A1] a folder that is called "%s=5" is a column, and none of the kernel\'s',
    async (name) => {
      const folder = join("kernels-own", `${name}=5`);
      mkdirSync(at(folder), { recursive: true });
      const path = file(join(folder, "a.txt"), "one\n");
      expect(await readText(engine, path).takeAll()).toEqual([{ text: "one", [name]: 5 }]);
      expect(await readText(engine, path, { includePaths: true }).takeAll()).toEqual([
        { text: "one", path, [name]: 5 },
      ]);
      expect(await readBinary(engine, path).takeAll()).toEqual([
        { path, bytes: Uint8Array.from(Buffer.from("one\n")), [name]: 5 },
      ]);
    },
  );

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
      /3\.arrow has no column "x", which .* has, and has column "y", which .* lacks\. With unionByName: true/,
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
