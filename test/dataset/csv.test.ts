/**
 * CSV values against what is really in the files: types over all of them, nothing rounded, every error with its line.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { readCsv } from "../../src/dataset/index.ts";
import { SourceError } from "../../src/errors/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-csv-"));
const engine = new InProcessEngine();
let folders = 0;
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own with these files, `0.csv`, `1.csv`, … */
function files(...texts: readonly (string | Uint8Array)[]): string {
  const path = join(folder, String(folders++));
  mkdirSync(path);
  texts.forEach((text, i) => {
    writeFileSync(join(path, `${i}.csv${typeof text === "string" ? "" : ".gz"}`), text);
  });
  return path;
}
async function read(path: string, options: Parameters<typeof readCsv>[2] = {}) {
  const ds = readCsv(engine, path, options);
  const schema = await ds.schema();
  return { types: schema.columns.map(({ type }) => type), rows: (await ds.takeAll()).map((row) => Object.values(row)) };
}
const column = async (values: readonly string[], options: Parameters<typeof readCsv>[2] = {}) => {
  const { types, rows } = await read(files(`v\n${values.map((value) => `${value}\n`).join("")}`), options);
  return { type: types[0], values: rows.flat() };
};

describe("[A18] types hold for all files", () => {
  test.each([
    ["whole and decimal", ["1", "2.5"], "DOUBLE", [1, 2.5]],
    ["whole beyond doubles and decimal", ["9007199254740993", "2.5"], "VARCHAR", ["9007199254740993", "2.5"]],
    ["leading zeros later", ["1234", "01234"], "VARCHAR", ["1234", "01234"]],
    ["dates and times", ["2024-01-01", "2024-01-01 12:30:00"], "TIMESTAMP", null],
    ["booleans and numbers", ["true", "1"], "VARCHAR", ["true", "1"]],
    ["numbers and words", ["1", "x"], "VARCHAR", ["1", "x"]],
    ["nothing and numbers", ["", "7"], "BIGINT", [null, 7]],
  ])("[A18] %s", async (_, values, type, expected) => {
    const { types, rows } = await read(files(...values.map((value) => `v,w\n${value},a\n`)));
    expect(types).toEqual([type, "VARCHAR"]);
    if (expected !== null) expect(rows.map(([value]) => value)).toEqual(expected);
    else
      expect(rows.map(([value]) => (value as Date).toISOString())).toEqual([
        "2024-01-01T00:00:00.000Z",
        "2024-01-01T12:30:00.000Z",
      ]);
  });

  test("[A18] a number among times with an offset is no null", async () => {
    const { types, rows } = await read(files("id,name\n2024-02-29 12:34:56+02:00,0\n", "id,name\n0,\n"));
    expect(types).toEqual(["VARCHAR", "BIGINT"]);
    expect(rows).toEqual([
      ["2024-02-29 12:34:56+02:00", 0],
      ["0", null],
    ]);
  });

  test("[A18] of very many files some are looked at, and a value in another is an error with its line", async () => {
    const path = files(...Array.from({ length: 200 }, (_, i) => `v\n1\n${i === 1 ? "2.5" : i}\n`));
    await expect(read(path)).rejects.toThrow(
      /1\.csv, line 3: "2\.5" does not fit column "v", which is BIGINT in the sampled rows/,
    );
    await expect(read(path)).rejects.toBeInstanceOf(SourceError);
    expect((await read(path, { sampleSize: -1 })).types).toEqual(["DOUBLE"]);
  });

  test.each([
    ["1", "2.5"],
    ["1", "00123"],
    ["1", "+1"],
    ["1", "1e3"],
    ["1.5", "9007199254740993.5"],
    ["1.5", "1e400"],
    ["1.5", "1e-400"],
    ["1.5", "007.5"],
    ["2024-01-01", "2024-01-01 12:00"],
    ["2024-01-01", "12:00"],
    ["2024-01-01 10:00:00", "2024-01-01T10:00:00+02:00"],
    ["2024-01-01 10:00:00", "2024-01-01 10:00:00.123456789"],
    ["10:00:00", "10:00:00+02"],
    ["true", "yes"],
  ])("[A18] %s and, below the sample, %s: an error with file and line, never another value", async (usual, odd) => {
    const path = files(`v\n${`${usual}\n`.repeat(21_000)}${odd}\n${usual}\n`);
    const message = `0.csv, line 21002: ${JSON.stringify(odd)} does not fit column "v"`;
    await expect(read(path)).rejects.toThrow(message);
    expect((await read(path, { ignoreErrors: true })).rows.length).toBe(21_001);
    expect((await read(path, { schema: { v: "VARCHAR" } })).rows[21_000]).toEqual([odd]);
  });

  test.each([
    ["INTEGER", "2.5"],
    ["BIGINT", "9223372036854775808"],
    ["TINYINT", "300"],
    ["DECIMAL(10, 2)", "1.005"],
    ["DOUBLE", "1e400"],
    ["DOUBLE", "0.x"],
    ["REAL", "1e39"],
    ["DATE", "2024-01-01 12:00"],
    ["TIMESTAMP", "2024-01-01T00:00:00+02:00"],
    ["TIMESTAMP", "2024-01-01 00:00:00.1234567"],
    ["TIMESTAMP_MS", "2024-01-01 00:00:00.1234"],
    ["TIME", "12:00:00+02"],
    ["BOOLEAN", "maybe"],
  ])("[A18] a declared %s cannot be %s", async (type, odd) => {
    const path = files(`v\n${odd}\n`);
    await expect(read(path, { schema: { v: type } })).rejects.toThrow(
      /0\.csv, line 2: .* which the schema declares as/,
    );
  });

  test.each([
    ["INTEGER", "007", 7],
    ["INTEGER", "5.0", 5],
    ["DOUBLE", "9007199254740993.5", 9007199254740994],
    ["DOUBLE", "-inf", Number.NEGATIVE_INFINITY],
    ["DOUBLE", '""', null],
    ["REAL", "1.5", 1.5],
    ["DECIMAL(10, 2)", "1.50", 1.5],
    ["DATE", "2024-01-01", new Date("2024-01-01")],
    ["TIMESTAMP", "2024-01-01T10:00:00Z", new Date("2024-01-01T10:00:00Z")],
    ["TIMESTAMPTZ", "2024-01-01T00:00:00+02:00", new Date("2023-12-31T22:00:00Z")],
    ["BOOLEAN", "yes", true],
  ])("[A18] a declared %s takes %s", async (type, text, value) => {
    expect((await read(files(`v\n${text}\n`), { schema: { v: type } })).rows).toEqual([[value]]);
  });

  test.each([
    [["01234", "56789"], "VARCHAR", ["01234", "56789"]],
    [["+31612345678"], "VARCHAR", ["+31612345678"]],
    [["1_000"], "VARCHAR", ["1_000"]],
    [["0x10"], "VARCHAR", ["0x10"]],
    [["nan", "inf", "-inf", "1.5"], "DOUBLE", [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.5]],
    [["TRUE", "false"], "BOOLEAN", [true, false]],
    [["yes", "no"], "VARCHAR", ["yes", "no"]],
    [["31/12/2024", "01/02/2024"], "VARCHAR", ["31/12/2024", "01/02/2024"]],
    [["12345678901234567890"], "VARCHAR", ["12345678901234567890"]],
    [["18446744073709551615", "1"], "VARCHAR", ["18446744073709551615", "1"]],
    [["123456789012345678901234567890"], "VARCHAR", ["123456789012345678901234567890"]],
    [["3.14159265358979323846"], "VARCHAR", ["3.14159265358979323846"]],
    [["0.30000000000000004", "1e-7"], "DOUBLE", [0.30000000000000004, 1e-7]],
    [[" 7", "8 "], "BIGINT", [7, 8]],
    [["2024-01-01T00:00:00+02:00"], "TIMESTAMP WITH TIME ZONE", [new Date("2023-12-31T22:00:00Z")]],
    [["2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00"], "VARCHAR", null],
  ])("[A18] %j is %s", async (values, type, expected) => {
    const found = await column(values);
    expect(found.type).toBe(type);
    expect(found.values).toEqual(expected ?? values);
  });

  test("[A18] dates and decimals in other ways, where they are given", async () => {
    const european = await read(files("d;n;t\n31/12/2024;1,5;31.12.2024 10:00\n"), {
      decimal: ",",
      dateFormat: "%d/%m/%Y",
      timestampFormat: "%d.%m.%Y %H:%M",
    });
    expect(european.types).toEqual(["DATE", "DOUBLE", "TIMESTAMP"]);
    expect(european.rows).toEqual([[new Date("2024-12-31"), 1.5, new Date("2024-12-31T10:00:00Z")]]);
  });
});

describe("[A18] files that are not as they should be", () => {
  test.each([
    ["too few", "a,b\n1,2\n3\n4,5\n", /line:? 3[\s\S]*0\.csv/i],
    ["too many", "a,b\n1,2\n3,4,5\n", /line:? 3[\s\S]*0\.csv/i],
    ["both", "a,b\n1,2\n3\n4,5,6\n7,8\n", /line:? 3[\s\S]*0\.csv/i],
    ["only ragged rows", "a,b,c\n1\n2,3\n4,5,6,7\n", /line:? 2[\s\S]*0\.csv/i],
    ["a title", "Sales of 2024\na,b,c\n1,2,3\n4,5,6\n", /line:? 2[\s\S]*0\.csv/i],
    ["an open quote", 'a,b\n1,"x\n2,3\n', /0\.csv/],
  ])("[A18] %s: an error that names the file, not fewer rows", async (_, text, message) => {
    await expect(read(files(text))).rejects.toThrow(message);
  });

  test.each([
    ["a mark, CRLF", "\uFEFFa,b\r\n1,2\r\n", [[1, 2]]],
    [
      "mixed line ends",
      "a,b\r\n1,2\n3,4\r\n",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["CR alone", "a,b\r1,2\r", [[1, 2]]],
    ["empty lines at the start and between", "\n\na,b\n\n1,2\n\n", [[1, 2]]],
    ["a header alone", "a,b\n", []],
    ["no line end", "a,b\n1,2", [[1, 2]]],
    ["nothing", "", []],
    ["empty lines alone", "\n\n\n", []],
    ["spaces after the delimiter", 'a, b\n1, "x, y"\n', [[1, "x, y"]]],
    [
      "quotes only later",
      'a,b\n1,x\n2,"y, z"\n',
      [
        [1, "x"],
        [2, "y, z"],
      ],
    ],
    [
      "other escapes",
      'a,b\n1,"x\\",y"\n2,z\n',
      [
        [1, 'x",y'],
        [2, "z"],
      ],
    ],
    ["semicolons", "a;b\n1,5;x\n", [["1,5", "x"]]],
    ["tabs", "a\tb\n1\tx, y\n", [[1, "x, y"]]],
    ["one column", "a\nx\n\ny\n", [["x"], [null], ["y"]]],
    ["one column of texts with commas", "text\nhello, world\nbye\n", [["hello, world"], ["bye"]]],
    [
      "no header",
      "1,x\n2,y\n",
      [
        [1, "x"],
        [2, "y"],
      ],
    ],
    ["names twice", "a,a,A\n1,2,3\n", [[1, 2, 3]]],
  ])("[A18] %s", async (_, text, rows) => {
    expect((await read(files(text))).rows).toEqual(rows);
  });

  test("[A18] a carriage return inside of quotes is read in packed files, too", async () => {
    const path = files(gzipSync('a,b\n"two\rlines\r\n",2\nplain,3\n'));
    expect((await read(path)).rows).toEqual([
      ["two\rlines\r\n", 2],
      ["plain", 3],
    ]);
  });

  test("[A18] one file with another delimiter, and a compressed one, are read as they are", async () => {
    const path = files("a,b\n1,x\n", "a;b\n2;y\n", gzipSync("b,a\nz,3\n"));
    expect((await read(path)).rows).toEqual([
      [1, "x"],
      [2, "y"],
      [3, "z"],
    ]);
  });

  test.each([
    ["id\na\n", 'id\n" spaces "\na\n', [["a"], [" spaces "], ["a"]]],
    ["id\na\n", "id\n'b'\n", [["a"], ["'b'"]]],
    [
      "a,b\n1,x\n",
      'a,b\n2,"y, z"\n',
      [
        [1, "x"],
        [2, "y, z"],
      ],
    ],
    [
      "a,b\n1,x\n",
      'a,b\n2,"y\\", z"\n',
      [
        [1, "x"],
        [2, 'y", z'],
      ],
    ],
  ])("[A18] %j, which has no quotes, does not say how those of %j are read", async (first, second, rows) => {
    expect((await read(files(first, second))).rows).toEqual(rows);
  });

  test("[A18] a line of 20 MB is read, among others and in a long file; a longer one with maxLineSize", async () => {
    const long = "x".repeat(20_000_000);
    const { rows } = await read(files(`a,b\n1,${long}\n2,y\n3,${long}\n4,${long}\n`));
    expect(rows.map(([a, b]) => [a, String(b).length])).toEqual([
      [1, 20_000_000],
      [2, 1],
      [3, 20_000_000],
      [4, 20_000_000],
    ]);
    const buried = files(`a,b\n${`1,${"y".repeat(1000)}\n`.repeat(33_000)}2,${"x".repeat(3_000_000)}\n`);
    expect((await read(buried, { columns: ["a"] })).rows.length).toBe(33_001);
    const longer = files(`a,b\n1,y\n2,${"x".repeat(33_000_000)}\n`);
    expect((await read(longer, { maxLineSize: 34_000_000 })).rows.length).toBe(2);
  });
});

describe("[A18] columns that differ", () => {
  const two = () => files("a,b\n1,x\n", "b,c\ny,2.5\n", "");

  test("[A18] another order is matched by name", async () => {
    expect((await read(files("a,b\n1,x\n", "b,a\ny,2\n"))).rows).toEqual([
      [1, "x"],
      [2, "y"],
    ]);
  });

  test("[A18] other columns are an error that names file, columns and remedy", async () => {
    await expect(read(two())).rejects.toThrow(
      /1\.csv has no column "a", which .*0\.csv has, and has column "c", which .*0\.csv lacks\. With unionByName: true/,
    );
    expect((await read(two(), { columns: ["b"] })).rows).toEqual([["x"], ["y"]]);
  });

  test("[A18] unionByName reads the columns of all, null where a file has none", async () => {
    const { types, rows } = await read(two(), { unionByName: true });
    expect(types).toEqual(["BIGINT", "VARCHAR", "DOUBLE"]);
    expect(rows).toEqual([
      [1, "x", null],
      [null, "y", 2.5],
    ]);
  });
});

describe("[A1] partition folders in the schema", () => {
  const partitioned = (text: string) => {
    const path = files();
    mkdirSync(join(path, "%5Bx%5D=1"));
    writeFileSync(join(path, "%5Bx%5D=1", "part.csv"), text);
    return path;
  };

  test("[A1] the schema may name them", async () => {
    const schema = { "[x]": "VARCHAR", "a.b": "DOUBLE" };
    const found = await read(partitioned("a.b\n7\n"), { schema });
    expect(found).toEqual({ types: ["DOUBLE", "VARCHAR"], rows: [[7, "1"]] });
    await expect(read(partitioned("b\n7\n"), { schema })).rejects.toThrow(/the schema names "a\.b", which/);
  });

  test("[A1] without a header they are no fields, unless the file has them too", async () => {
    const options = { header: false, schema: { a: "BIGINT", "[x]": "VARCHAR" } };
    expect((await read(partitioned("7\n"), options)).rows).toEqual([[7, "1"]]);
    expect((await read(partitioned("7,2\n"), options)).rows).toEqual([[7, "1"]]);
  });
});

test("[A18] thousands of columns are looked at and read, and not those that nothing uses", async () => {
  const width = 700;
  const names = Array.from({ length: width }, (_, i) => `f${i}`);
  const row = names.map((_, i) => ["7", "2.5", "x", "2024-01-01", "true"][i % 5]);
  const path = files(`${names.join()}\n${`${row.join()}\n`.repeat(3)}`);
  const ds = readCsv(engine, path);
  const types = (await ds.schema()).columns.map(({ type }) => type);
  expect(types).toEqual(names.map((_, i) => ["BIGINT", "DOUBLE", "VARCHAR", "DATE", "BOOLEAN"][i % 5]));
  expect(await ds.select("f699", "f1").takeAll()).toEqual(Array.from({ length: 3 }, () => ({ f699: true, f1: 2.5 })));
  const [split] = engine.jobs.at(-1)?.operators.flatMap((each) => (each.kind === "slice" ? [] : [each.input])) ?? [];
  expect(JSON.stringify(split)).not.toContain("spillway_fits_date");
  expect(await ds.count()).toBe(3);
  expect(JSON.stringify(engine.jobs.at(-1))).not.toContain("spillway_fits_date");
  expect((await ds.takeAll()).map((each) => Object.values(each).length)).toEqual([width, width, width]);
});

test("[A18] which rows ignoreErrors leaves out does not depend on the columns that are used", async () => {
  const path = files("a,b\n1,2\nx,3\n4,y\n");
  const ds = readCsv(engine, path, { ignoreErrors: true, schema: { a: "BIGINT", b: "BIGINT" } });
  expect(await ds.count()).toBe(1);
  expect(await ds.select("b").takeAll()).toEqual([{ b: 2 }]);
});
