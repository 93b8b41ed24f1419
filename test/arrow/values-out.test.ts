import { describe, expect, test } from "vitest";
import {
  blockBytes,
  ColumnAssembler,
  columnsToBatch,
  compileRows,
  type DataType,
  parseTypeName,
  type RecordBatch,
  RowBuilder,
  readBlock,
  toColumns,
  toRows,
  type ValueOptions,
  type Vector,
} from "../../src/arrow/index.ts";
import { ValueError } from "../../src/errors/index.ts";

function batchOf(type: DataType | string, values: readonly unknown[]): RecordBatch {
  const builder = new RowBuilder(new Map([["v", typeof type === "string" ? parseTypeName(type) : type]]));
  for (const v of values) builder.append({ v });
  return readBlock(blockBytes(builder.finish()));
}

function out(type: DataType | string, values: readonly unknown[], options: ValueOptions = {}): unknown[] {
  return toRows(batchOf(type, values), options).map((row) => row.v);
}

describe("[A13] values out", () => {
  test("int64 arrives as a number up to 2^53", () => {
    expect(out("BIGINT", [2n ** 53n - 1n, -(2n ** 53n) + 1n, 0n, -1n, null])).toEqual([
      2 ** 53 - 1,
      -(2 ** 53) + 1,
      0,
      -1,
      null,
    ]);
    expect(out("UBIGINT", [4294967296n, 2n ** 32n - 1n])).toEqual([4294967296, 2 ** 32 - 1]);
  });

  test("an int64 past 2^53 is an error that names the column and says what to ask for", () => {
    for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n]) {
      expect(() => out("BIGINT", [1n, value])).toThrow(`Column "v" holds the integer ${value}`);
      expect(() => toColumns(batchOf("BIGINT", [value]))).toThrow('int64: "bigint"');
    }
    expect(() => out("UBIGINT", [2n ** 64n - 1n])).toThrow("18446744073709551615");
  });

  test("int64 arrives exactly with bigint", () => {
    expect(out("BIGINT", [2n ** 63n - 1n, -(2n ** 63n)], { int64: "bigint" })).toEqual([2n ** 63n - 1n, -(2n ** 63n)]);
    expect(toColumns(batchOf("BIGINT", [5n, 6n]), { int64: "bigint" }).v).toEqual(BigInt64Array.of(5n, 6n));
  });

  test("a decimal arrives as a number, the nearest one, or as its exact text", () => {
    const texts = ["0.10", "-12.34", "99999999999999999.99", "0.00"];
    expect(out("DECIMAL(19,2)", texts)).toEqual([0.1, -12.34, 1e17, 0]);
    expect(out("DECIMAL(19,2)", texts, { decimal: "string" })).toEqual(texts);
    const wide = "12345678901234567890123456.789012345678";
    expect(out("DECIMAL(38,12)", [wide])).toEqual([Number(wide)]);
    expect(out("DECIMAL(38,12)", [wide, `-${wide}`], { decimal: "string" })).toEqual([wide, `-${wide}`]);
    expect(toColumns(batchOf("DECIMAL(19,2)", texts)).v).toEqual(Float64Array.of(0.1, -12.34, 1e17, 0));
  });

  test("dates and timestamps arrive as Date, rounded down to the millisecond, or as bigint", () => {
    const instant = new Date("2024-02-29T12:34:56.789Z");
    expect(out("DATE", [instant])).toEqual([new Date("2024-02-29T00:00:00Z")]);
    expect(out("DATE", [instant], { timestamp: "bigint" })).toEqual([19782n]);
    for (const type of ["TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"]) {
      expect(out(type, [instant, null])).toEqual([instant, null]);
    }
    expect(out("TIMESTAMP_S", [instant])).toEqual([new Date("2024-02-29T12:34:56Z")]);
    expect(out("TIMESTAMP", [-1n, 1999n, -1001n])).toEqual([new Date(-1), new Date(1), new Date(-2)]);
    const justBefore = 1_700_000_000_000_000_000n - 1n;
    expect(out("TIMESTAMP_NS", [justBefore])).toEqual([new Date(1_699_999_999_999)]);
    expect(out("TIMESTAMP_NS", [justBefore], { timestamp: "bigint" })).toEqual([justBefore]);
    const late = 8_640_000_000_000_000_000n - 1n;
    expect(out("TIMESTAMP", [late])).toEqual([new Date(8_639_999_999_999_999)]);
  });

  test("an instant that no Date holds is an error, not an invalid Date", () => {
    expect(() => out("TIMESTAMP", [2n ** 63n - 1n])).toThrow(/Column "v".*timestamp: "bigint"/);
    expect(() => out("DATE", [2n ** 31n - 1n])).toThrow(ValueError);
  });

  test("time and duration arrive as milliseconds, with their fraction", () => {
    expect(out("TIME", [45_296_789n, 1_500n])).toEqual([45_296.789, 1.5]);
    expect(out({ kind: "time", unit: "s" }, [3_000])).toEqual([3_000]);
    expect(out({ kind: "duration", unit: "ns" }, [1_500_000n, -1n])).toEqual([1.5, -0.000001]);
  });

  test("an interval arrives as months, days and nanos", () => {
    expect(out("INTERVAL", [{ months: 1, days: -2, nanos: 3_000_000_000 }])).toEqual([
      { months: 1, days: -2, nanos: 3_000_000_000 },
    ]);
  });

  test("lists, structs and maps nest", () => {
    const value = [{ a: 1, b: ["x", null], m: new Map([["k", [1.5]]]) }, null];
    const type = "STRUCT(a INTEGER, b VARCHAR[], m MAP(VARCHAR, DOUBLE[]))[]";
    expect(out(type, [value, null, []])).toEqual([value, null, []]);
  });

  test("half floats arrive as numbers", () => {
    expect(out("FLOAT16", [1.5, 65504, 2 ** -24, -0])).toEqual([1.5, 65504, 2 ** -24, -0]);
  });

  test("a dictionary arrives decoded", () => {
    const values = batchOf("VARCHAR", ["zero", null, "two"]).columns[0];
    if (values === undefined) throw new Error("no column");
    const type: DataType = { kind: "dictionary", index: { kind: "int", bits: 8, signed: true }, value: values.type };
    const column: Vector = {
      type,
      length: 4,
      nullCount: -1,
      offset: 1,
      buffers: [Uint8Array.of(0b10111), Uint8Array.of(9, 2, 0, 0, 1)],
      children: [],
      dictionary: values,
    };
    const batch: RecordBatch = {
      schema: { fields: [{ name: "v", type, nullable: true }] },
      length: 4,
      columns: [column],
    };
    const expected = [{ v: "two" }, { v: "zero" }, { v: null }, { v: null }];
    expect(toRows(batch)).toEqual(expected);
    const block = readBlock(blockBytes(batch));
    expect(block.schema.fields[0]?.type).toEqual({ kind: "utf8", large: false });
    expect(toRows(block)).toEqual(expected);
  });
});

describe("[A13] strings", () => {
  const kinds = {
    ascii: (i: number) => `value ${i} `.repeat(i % 20),
    mixed: (i: number) => (i % 50 === 0 ? `ü${i}` : `value ${i}`),
    wide: (i: number) => "日本語🙂".repeat(i % 40),
    long: (i: number) => `${i}`.repeat(1000),
  };
  for (const [kind, make] of Object.entries(kinds)) {
    test(`${kind}: in any order of reading`, () => {
      const texts = Array.from({ length: 500 }, (_, i) => (i % 9 === 4 ? null : make(i)));
      const batch = batchOf("VARCHAR", texts);
      const reader = compileRows(batch.schema, {});
      reader.load(batch);
      expect(texts.map((_, i) => reader.row(i).v)).toEqual(texts);
      for (let i = texts.length - 1; i >= 0; i -= 7) expect(reader.row(i).v).toBe(texts[i]);
    });
  }
});

test("[A13] rows and columns are copies: what the batch's memory holds later does not show", () => {
  const bytes = blockBytes(
    columnsToBatch({
      n: Float64Array.of(1, 2),
      s: ["one", "two"],
      b: [Uint8Array.of(1), Uint8Array.of(2)],
      l: [[1], [2]],
    }),
  );
  const batch = readBlock(bytes);
  const rows = toRows(batch);
  const columns = toColumns(batch);
  const before = structuredClone({ rows, columns });
  bytes.fill(0xff);
  expect({ rows, columns }).toEqual(before);
});

test("[A13] column names are data: any characters, keys in the order of the schema, nothing inherited", () => {
  const names = ["__proto__", 'a"b', "c'd", "`back`", "line\nbreak", "\u2028", "constructor", "", "toString"];
  const values = Object.fromEntries(names.map((name, index) => [name, [index]]));
  const batch = columnsToBatch(values);
  const [row] = toRows(batch);
  expect(Object.keys(row ?? {})).toEqual(names);
  expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
  expect(Object.values(row ?? {})).toEqual(names.map((_, index) => index));
  expect(Object.keys(toColumns(batch))).toEqual(names);
});

describe("[A13] batches that spell the same columns otherwise", () => {
  const plain = columnsToBatch({ a: ["x", "y"], n: [1, 2] });
  const shuffled = columnsToBatch({ n: [3], a: ["z"] });
  const nulls = columnsToBatch({ a: [null], n: [null] });
  const integers = columnsToBatch({ a: ["w"], n: Int32Array.of(4) });
  const expected = [
    { a: "x", n: 1 },
    { a: "y", n: 2 },
    { a: "z", n: 3 },
    { a: null, n: null },
    { a: "w", n: 4 },
    { a: "x", n: 1 },
    { a: "y", n: 2 },
  ];

  test("are read by one row reader, keys in the order of its schema", () => {
    const reader = compileRows(plain.schema, {});
    const rows = [plain, shuffled, nulls, integers, plain].flatMap((batch) => {
      reader.load(batch);
      return Array.from({ length: batch.length }, (_, index) => reader.row(index));
    });
    expect(rows).toEqual(expected);
    for (const row of rows) expect(Object.keys(row)).toEqual(["a", "n"]);
  });

  test("are put together by one assembler", () => {
    const assembler = new ColumnAssembler(plain.schema, {}, 7);
    for (const batch of [plain, shuffled, nulls, integers]) {
      assembler.push(batch);
      expect(assembler.next()).toBeNull();
    }
    assembler.push(plain);
    expect(assembler.next()).toEqual({ a: expected.map((row) => row.a), n: expected.map((row) => row.n) });
  });

  test("with other columns they are an error that names one", () => {
    const reader = compileRows(plain.schema, {});
    expect(() => reader.load(columnsToBatch({ a: ["x"] }))).toThrow(/lacks column "n"/);
    expect(() => reader.load(columnsToBatch({ a: ["x"], n: [1], z: [1] }))).toThrow(/column "z" as well/);
  });
});

describe("[A13] columns out", () => {
  test("numbers without nulls are fresh typed arrays, anything else an array with nulls", () => {
    const batch = columnsToBatch({
      f: Float64Array.of(1, 2, 3),
      i: Int32Array.of(1, 2, 3),
      u: Uint8Array.of(1, 2, 3),
      l: BigInt64Array.of(1n, 2n, 3n),
      n: [1, null, 3],
      s: ["a", null, "c"],
      b: [true, null, false],
    });
    expect(toColumns(batch)).toEqual({
      f: Float64Array.of(1, 2, 3),
      i: Int32Array.of(1, 2, 3),
      u: Uint8Array.of(1, 2, 3),
      l: Float64Array.of(1, 2, 3),
      n: [1, null, 3],
      s: ["a", null, "c"],
      b: [true, null, false],
    });
  });

  test("a null in the middle turns what came before it into an array as well", () => {
    const first = columnsToBatch({ v: [1, 2, 3] });
    const second = columnsToBatch({ v: [4, null, 6, 7] });
    const assembler = new ColumnAssembler(first.schema, {}, 5);
    assembler.push(first);
    expect(assembler.next()).toBeNull();
    assembler.push(second);
    expect(assembler.next()).toEqual({ v: [1, 2, 3, 4, null] });
    expect(assembler.next()).toBeNull();
    expect(assembler.flush()).toEqual({ v: Float64Array.of(6, 7) });
    expect(assembler.flush()).toBeNull();
  });

  test("a batch larger than all the rows costs only the rows", () => {
    const batch = columnsToBatch({ v: Float64Array.of(1, 2), s: ["a", "b"] });
    const assembler = new ColumnAssembler(batch.schema, {}, 2 ** 40);
    for (let round = 0; round < 3; round++) {
      assembler.push(batch);
      expect(assembler.next()).toBeNull();
    }
    expect(assembler.flush()).toEqual({ v: Float64Array.of(1, 2, 1, 2, 1, 2), s: ["a", "b", "a", "b", "a", "b"] });
  });

  test("rows are not lost silently: pushing too early is an error", () => {
    const batch = columnsToBatch({ v: [1, 2, 3] });
    const assembler = new ColumnAssembler(batch.schema, {}, 2);
    assembler.push(batch);
    assembler.next();
    expect(() => assembler.push(batch)).toThrow(ValueError);
    expect(() => assembler.flush()).toThrow(ValueError);
    expect(() => new ColumnAssembler(batch.schema, {}, 0)).toThrow("batchSize");
  });
});
