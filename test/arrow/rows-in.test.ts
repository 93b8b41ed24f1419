import { describe, expect, test } from "vitest";
import {
  columnsToBatch,
  parseTypeName,
  type RecordBatch,
  type Row,
  RowBuilder,
  toRows,
  typeName,
} from "../../src/arrow/index.ts";
import { RowShapeError, ValueError } from "../../src/errors/index.ts";

const types = (batch: RecordBatch): Record<string, string> =>
  Object.fromEntries(batch.schema.fields.map((field) => [field.name, typeName(field.type)]));

function built(rows: readonly unknown[], declared: Record<string, string> = {}): RecordBatch {
  const builder = new RowBuilder(new Map(Object.entries(declared).map(([name, sql]) => [name, parseTypeName(sql)])));
  for (const row of rows) builder.append(row);
  return builder.finish();
}

describe("[A13] types of rows", () => {
  test("each kind of value has its type", () => {
    const row = {
      number: 1,
      bigint: 1n,
      string: "a",
      boolean: true,
      date: new Date(0),
      bytes: Uint8Array.of(1),
      buffer: Buffer.from("x"),
      array: [1],
      floats: Float32Array.of(1),
      longs: BigInt64Array.of(1n),
      object: { a: "b" },
      map: new Map([["k", 1]]),
      nothing: null,
      missing: undefined,
      empty: [],
    };
    expect(types(built([row]))).toEqual({
      number: "DOUBLE",
      bigint: "BIGINT",
      string: "VARCHAR",
      boolean: "BOOLEAN",
      date: "TIMESTAMP",
      bytes: "BLOB",
      buffer: "BLOB",
      array: "DOUBLE[]",
      floats: "FLOAT[]",
      longs: "BIGINT[]",
      object: "STRUCT(a VARCHAR)",
      map: "MAP(VARCHAR, DOUBLE)",
      nothing: "NULL",
      missing: "NULL",
      empty: "NULL[]",
    });
  });

  test("a column of nulls stays open until a value decides, nested ones and across batches too", () => {
    const builder = new RowBuilder();
    const rows: Row[] = [
      { a: null, l: [], o: { x: null }, m: null },
      { a: null, l: [null], o: null, m: new Map() },
      { a: "x", l: [1], o: { x: true }, m: new Map([["k", 1n]]) },
      { a: null, l: null, o: { x: null }, m: null },
    ];
    builder.append(rows[0]);
    const first = builder.finish();
    expect(types(first)).toEqual({ a: "NULL", l: "NULL[]", o: "STRUCT(x NULL)", m: "NULL" });
    expect(toRows(first)).toEqual([rows[0]]);
    for (const row of rows.slice(1)) builder.append(row);
    const second = builder.finish();
    expect(types(second)).toEqual({ a: "VARCHAR", l: "DOUBLE[]", o: "STRUCT(x BOOLEAN)", m: "MAP(VARCHAR, BIGINT)" });
    expect(toRows(second, { int64: "bigint" })).toEqual(rows.slice(1));
    builder.append(rows[0]);
    const third = builder.finish();
    expect(types(third)).toEqual(types(second));
    expect(third.schema).toBe(second.schema);
  });

  test("no rows: the declared columns, or none", () => {
    expect(types(built([], { a: "INTEGER", b: "VARCHAR[]" }))).toEqual({ a: "INTEGER", b: "VARCHAR[]" });
    expect(built([]).columns).toEqual([]);
  });

  test("a builder is used again after finish", () => {
    const builder = new RowBuilder();
    for (let round = 0; round < 3; round++) {
      const rows = Array.from({ length: 700 * (round + 1) }, (_, i) => ({
        n: i % 5 === round ? null : i,
        s: i % 3 === 0 ? `é${i}` : `row ${i}`,
        l: [i, round],
      }));
      for (const row of rows) builder.append(row);
      expect(builder.rows).toBe(rows.length);
      expect(builder.byteLength).toBeGreaterThan(rows.length * 8);
      expect(toRows(builder.finish())).toEqual(rows);
      expect(builder.rows).toBe(0);
      expect(builder.byteLength).toBe(0);
    }
  });
});

describe("[A13] rows of another shape", () => {
  test("a missing or an extra column is named", () => {
    expect(() => built([{ a: 1, b: 2 }, { a: 1 }])).toThrow(/lacks "b"/);
    expect(() => built([{ a: 1 }, { a: 1, c: 2 }])).toThrow(/has "c"/);
    expect(() =>
      built([
        { a: 1, b: 2 },
        { a: 1, c: 2 },
      ]),
    ).toThrow(/lacks "b"/);
    expect(() => built([{ o: { x: 1 } }, { o: { y: 1 } }])).toThrow(/Column "o": a struct lacks "x"/);
  });

  test("keys may come in another order", () => {
    expect(
      toRows(
        built([
          { a: 1, b: 2 },
          { b: 3, a: 4 },
        ]),
      ),
    ).toEqual([
      { a: 1, b: 2 },
      { a: 4, b: 3 },
    ]);
  });

  test("a value of another type: both types are named", () => {
    const cases: [unknown, unknown, RegExp][] = [
      [1, "x", /DOUBLE.*VARCHAR \("x"\)/],
      ["x", 1, /VARCHAR.*DOUBLE \(1\)/],
      [1, 1n, /DOUBLE.*BIGINT \(1n\)/],
      [1n, 1, /BIGINT.*DOUBLE/],
      [true, 0, /BOOLEAN.*DOUBLE/],
      [new Date(0), "1970", /TIMESTAMP.*VARCHAR/],
      [[1], 1, /DOUBLE\[\].*DOUBLE/],
      [[1], ["a"], /"v\[\]" is DOUBLE.*VARCHAR/],
      [{ x: 1 }, [1], /STRUCT\(x DOUBLE\).*DOUBLE\[\]/],
      [new Map([["k", 1]]), { k: 1 }, /MAP.*STRUCT/],
      [Uint8Array.of(1), "x", /BLOB.*VARCHAR/],
    ];
    for (const [first, second, message] of cases) {
      const build = (): unknown => built([{ v: first }, { v: second }]);
      expect(build).toThrow(RowShapeError);
      expect(build).toThrow(message);
    }
  });

  test("what is not a row says what came", () => {
    const cases: [unknown, RegExp][] = [
      [undefined, /undefined/],
      [null, /null/],
      [5, /DOUBLE \(5\)/],
      ["text", /VARCHAR \("text"\)/],
      [[1, 2], /an array of 2/],
      [Promise.resolve({ a: 1 }), /promise.*await/],
      [new Map(), /Map/],
      [() => 1, /function/],
      [{}, /without any column/],
    ];
    for (const [value, message] of cases) {
      expect(() => built([value])).toThrow(RowShapeError);
      expect(() => built([value])).toThrow(message);
    }
    expect(() => built([{ a: 1 }, Promise.resolve({ a: 1 })])).toThrow(RowShapeError);
    expect(() => built([{ a: () => 1 }])).toThrow(/Column "a" was given a function/);
    expect(() => built([{ a: null }, { a: new Set([1]) }])).toThrow(/Column "a" was given a Set/);
  });

  test("[A14] a row that fails leaves nothing behind: the next one takes its place", () => {
    const builder = new RowBuilder();
    const good = (i: number) => ({ s: `text ${i}`, n: i, l: [`é${i}`, null], o: { a: `inner ${i}` }, z: i });
    const kept: Row[] = [];
    for (let i = 0; i < 400; i++) {
      builder.append(good(i));
      kept.push(good(i));
      expect(() => builder.append({ ...good(-1), s: null, n: null, l: null, o: null, z: "bad" })).toThrow(
        RowShapeError,
      );
      expect(() => builder.append({ ...good(-1), s: "much longer ".repeat(i), l: ["x", 5] })).toThrow(RowShapeError);
    }
    expect(toRows(builder.finish())).toEqual(kept);
  });
});

describe("[A13] strings in", () => {
  test("every kind of text, joined or not, is encoded as it is alone", () => {
    const texts = [
      ...Array.from({ length: 300 }, (_, i) => "x".repeat(i)),
      "é",
      "日本語",
      "🙂",
      "",
      "\u0000",
      "\ufffd",
      "y".repeat(5000),
      "é".repeat(5000),
    ];
    const rows = toRows(built(texts.map((s) => ({ s }))));
    expect(rows.map((row) => row.s)).toEqual(texts);
  });

  test("half of a surrogate pair is refused, and the builder goes on without its row", () => {
    const builder = new RowBuilder();
    builder.append({ s: "a" });
    for (const half of ["a\ud83d", "\ude42b", "\ud83d", "\ude42", `${"z".repeat(5000)}\ud83d`]) {
      expect(() => builder.append({ s: half })).toThrow(ValueError);
    }
    builder.append({ s: "🙂" });
    expect(toRows(builder.finish())).toEqual([{ s: "a" }, { s: "🙂" }]);
    expect(() => columnsToBatch({ s: ["a", "\ud83d"] })).toThrow('Row 1 of the result: Column "s"');
  });
});

describe("[A13] declared types", () => {
  test("values are converted", () => {
    const rows = [{ i: 5, b: 7n, f: 3n, d: "1.005", n: 2.5, t: new Date(86_400_001), m: { k: 1 }, s: [1, 2] }];
    const declared = {
      i: "INTEGER",
      b: "BIGINT",
      f: "DOUBLE",
      d: "DECIMAL(10,2)",
      n: "DECIMAL(10,1)",
      t: "DATE",
      m: "MAP(VARCHAR, INTEGER)",
      s: "FLOAT[2]",
    };
    const batch = built(rows, declared);
    expect(types(batch)).toEqual(declared);
    expect(toRows(batch)).toEqual([
      { i: 5, b: 7, f: 3, d: 1.01, n: 2.5, t: new Date(86_400_000), m: new Map([["k", 1]]), s: [1, 2] },
    ]);
    expect(toRows(built([{ v: 42 }], { v: "BIGINT" }))).toEqual([{ v: 42 }]);
    expect(toRows(built([{ v: -42 }], { v: "BIGINT" }))).toEqual([{ v: -42 }]);
  });

  test("what cannot be converted is a ValueError that names the column, the type and the value", () => {
    const cases: [string, unknown, RegExp][] = [
      ["TINYINT", 128, /"v" \(TINYINT\) cannot hold 128: .*-128 to 127/],
      ["UTINYINT", -1, /0 to 255/],
      ["INTEGER", 1.5, /whole numbers/],
      ["INTEGER", "1", /declared INTEGER; VARCHAR \("1"\)/],
      ["BIGINT", 2 ** 53, /2\^53/],
      ["BIGINT", 2n ** 63n, /64 bits/],
      ["UBIGINT", -1n, /64 bits/],
      ["VARCHAR", 5, /declared VARCHAR; DOUBLE \(5\)/],
      ["DECIMAL(4,2)", 100, /2 digits before the point/],
      ["DECIMAL(4,2)", "abc", /no decimal number/],
      ["DATE", "1.1.2020", /text must be a date/],
      ["DATE", 5, /declared DATE/],
      ["TIMESTAMP", new Date(Number.NaN), /Invalid Date/],
      ["DOUBLE[2]", [1], /exactly 2 elements/],
      ["BOOLEAN", 1, /declared BOOLEAN/],
    ];
    for (const [sql, value, message] of cases) {
      const build = (): unknown => built([{ v: value }], { v: sql });
      expect(build, `${sql}`).toThrow(ValueError);
      expect(build, `${sql}`).toThrow(message);
    }
  });

  test("a declared column that no row has is an error", () => {
    expect(() => built([{ a: 1 }], { b: "INTEGER" })).toThrow(/Column "b" is declared/);
  });
});

describe("[A2] what a batch function gives", () => {
  test("typed arrays keep their types and their memory", () => {
    const values = {
      f64: Float64Array.of(1, 2),
      f32: Float32Array.of(1, 2),
      i8: Int8Array.of(1, 2),
      u16: Uint16Array.of(1, 2),
      i32: Int32Array.of(1, 2),
      i64: BigInt64Array.of(1n, 2n),
      u64: BigUint64Array.of(1n, 2n),
      u8: Uint8Array.of(1, 2),
    };
    const batch = columnsToBatch(values);
    expect(types(batch)).toEqual({
      f64: "DOUBLE",
      f32: "FLOAT",
      i8: "TINYINT",
      u16: "USMALLINT",
      i32: "INTEGER",
      i64: "BIGINT",
      u64: "UBIGINT",
      u8: "UTINYINT",
    });
    expect(batch.columns[0]?.buffers[1]?.buffer).toBe(values.f64.buffer);
    expect(toRows(batch)[1]).toEqual({ f64: 2, f32: 2, i8: 2, u16: 2, i32: 2, i64: 2, u64: 2, u8: 2 });
  });

  test("a part of a larger typed array is just that part", () => {
    const part = Float64Array.of(0, 1, 2, 3).subarray(1, 3);
    expect(toRows(columnsToBatch({ v: part }))).toEqual([{ v: 1 }, { v: 2 }]);
  });

  test("plain arrays are inferred over all values", () => {
    const batch = columnsToBatch({ a: [null, undefined, 3], b: [null, null, null], c: [[], [1], null] });
    expect(types(batch)).toEqual({ a: "DOUBLE", b: "NULL", c: "DOUBLE[]" });
    expect(toRows(batch)).toEqual([
      { a: null, b: null, c: [] },
      { a: null, b: null, c: [1] },
      { a: 3, b: null, c: null },
    ]);
  });

  test("declared types convert arrays of either kind", () => {
    const declared = new Map([
      ["a", parseTypeName("INTEGER")],
      ["b", parseTypeName("BIGINT")],
    ]);
    const batch = columnsToBatch({ a: [1, null], b: Float64Array.of(1, 2) }, declared);
    expect(types(batch)).toEqual({ a: "INTEGER", b: "BIGINT" });
    expect(() => columnsToBatch({ a: [1.5], b: [1] }, declared)).toThrow(ValueError);
    expect(() => columnsToBatch({ a: [1] }, declared)).toThrow(/"b" is declared/);
  });

  test("what is no batch is an error that says why", () => {
    expect(() => columnsToBatch({ a: [1, 2], b: [1] })).toThrow(/"b" has 1 values, column "a" has 2/);
    expect(() => columnsToBatch({ a: [1, "x"] })).toThrow(RowShapeError);
    expect(() => columnsToBatch({})).toThrow(/without any column/);
    const call = columnsToBatch as (value: unknown) => unknown;
    expect(() => call([{ a: 1 }])).toThrow(/object of arrays/);
    expect(() => call(undefined)).toThrow(/undefined/);
    expect(() => call({ a: "text" })).toThrow(/Column "a".*VARCHAR/);
    expect(() => call(Promise.resolve({}))).toThrow(/promise/);
  });
});
