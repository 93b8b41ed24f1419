import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { concatBatches, sliceBatch, toRows } from "../../src/arrow/index.ts";
import type { DataType, RecordBatch, Row, Vector } from "../../src/arrow/types.ts";
import { type Connection, Kernel } from "../../src/kernel/index.ts";
import { batchOf, bytes, collect, EXACT, inNativeMemory, rowsOf, text, vector } from "./batches.ts";

let kernel: Kernel;
let connection: Connection;
beforeAll(() => {
  kernel = Kernel.open({ threads: 1 });
  connection = kernel.connect();
});
afterAll(() => kernel.close());

/** Rows after a trip through SQL. */
function through(batches: readonly RecordBatch[], sql = "SELECT * FROM {input}"): Row[] {
  const table = connection.table(batches);
  try {
    return rowsOf(connection, sql.replaceAll("{input}", table.sql));
  } finally {
    table.release();
  }
}

const column = (vectors: Vector) => through([batchOf({ c: vectors })]).map((row) => row.c);

describe("[A13] Arrow types that the kernel has in another form", () => {
  const valid = [true, false, true, true];

  it("a dictionary, with nulls in the indices and in the values", () => {
    const values = text(["a", null, "a longer value than fits inline"]);
    const type: DataType = { kind: "dictionary", index: { kind: "int", bits: 8, signed: true }, value: values.type };
    const indices = bytes(Int8Array.of(2, 99, 1, 0));
    expect(column(vector(type, 4, valid, [indices], { dictionary: values }))).toEqual([
      "a longer value than fits inline",
      null,
      null,
      "a",
    ]);
    const numbers = vector({ kind: "float", bits: 64 }, 2, null, [bytes(Float64Array.of(1.5, 2.5))]);
    const wide: DataType = {
      kind: "dictionary",
      index: { kind: "int", bits: 64, signed: false },
      value: numbers.type,
    };
    expect(column(vector(wide, 3, null, [bytes(BigInt64Array.of(1n, 0n, 1n))], { dictionary: numbers }))).toEqual([
      2.5, 1.5, 2.5,
    ]);
  });

  it("a dictionary of large texts, inside a list, sliced", () => {
    const values = text(["x", "yy"], true);
    const type: DataType = { kind: "dictionary", index: { kind: "int", bits: 16, signed: false }, value: values.type };
    const child = vector(type, 5, null, [bytes(Uint16Array.of(0, 1, 1, 0, 1))], { dictionary: values });
    const list = vector(
      { kind: "list", child: { name: "item", type, nullable: true }, large: false },
      2,
      null,
      [bytes(Int32Array.of(0, 1, 3, 5))],
      { children: [child], offset: 1 },
    );
    expect(column(list)).toEqual([
      ["yy", "yy"],
      ["x", "yy"],
    ]);
  });

  it("an index outside of the dictionary is an error", () => {
    const values = text(["a"]);
    const type: DataType = { kind: "dictionary", index: { kind: "int", bits: 8, signed: false }, value: values.type };
    expect(() => column(vector(type, 1, null, [Uint8Array.of(1)], { dictionary: values }))).toThrow(
      /Index 1 of a dictionary of 1 values/,
    );
  });

  it("half floats", () => {
    const halves = Uint16Array.of(0x3c00, 0xc100, 0x0001, 0x7c00);
    expect(column(vector({ kind: "float", bits: 16 }, 4, null, [bytes(halves)]))).toEqual([
      1,
      -2.5,
      2 ** -24,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it("decimals of 32, 64 and 256 bits, and a precision that is too much", () => {
    const of = (bits: 32 | 64 | 128 | 256, precision = 9): DataType => ({ kind: "decimal", precision, scale: 2, bits });
    const want = ["-1.50", null, "0.03", "70.00"];
    expect(column(vector(of(32), 4, valid, [bytes(Int32Array.of(-150, 7, 3, 7000))]))).toEqual(want);
    expect(column(vector(of(64), 4, valid, [bytes(BigInt64Array.of(-150n, 7n, 3n, 7000n))]))).toEqual(want);
    const wide = BigInt64Array.of(-150n, -1n, -1n, -1n, 7n, 9n, 9n, 9n, 3n, 0n, 0n, 0n, 7000n, 0n, 0n, 0n);
    expect(column(vector(of(256), 4, valid, [bytes(wide)]))).toEqual(want);
    expect(() => column(vector(of(256, 50), 4, valid, [bytes(wide)]))).toThrow(/DECIMAL\(50,2\).*38 digits/);
  });

  it("fixed-size binary with nulls before values", () => {
    const type: DataType = { kind: "fixedBinary", width: 2 };
    const data = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const found = column(vector(type, 3, valid, [data], { offset: 1 }));
    expect(found.map((value) => (value instanceof Uint8Array ? [...value] : value))).toEqual([null, [5, 6], [7, 8]]);
  });

  it("intervals of every unit, durations of every unit with garbage under nulls", () => {
    const months = vector({ kind: "interval", unit: "yearMonth" }, 4, valid, [bytes(Int32Array.of(14, 1, 2, 3))]);
    expect(column(months)[0]).toEqual({ months: 14, days: 0, nanos: 0n });
    const days = vector({ kind: "interval", unit: "dayTime" }, 1, null, [bytes(Int32Array.of(3, 1500))]);
    expect(column(days)[0]).toEqual({ months: 0, days: 3, nanos: 1_500_000_000n });
    const garbage = 0x7fffffffffffffffn;
    for (const [unit, value] of [
      ["s", 2n],
      ["ms", 2000n],
      ["us", 2_000_000n],
      ["ns", 2_000_000_000n],
    ] as const) {
      const data = bytes(BigInt64Array.of(value, garbage, value, value));
      expect(column(vector({ kind: "duration", unit }, 4, valid, [data]))[2]).toEqual({
        months: 0,
        days: 0,
        nanos: 2_000_000_000n,
      });
    }
  });

  it("dates in milliseconds, times and timestamps of every unit, with a zone", () => {
    const day = 86_400_000n;
    expect(column(vector({ kind: "date", unit: "ms" }, 2, null, [bytes(BigInt64Array.of(day, -day))]))).toEqual([
      1n,
      -1n,
    ]);
    const seconds = vector({ kind: "time", unit: "s" }, 1, null, [bytes(Int32Array.of(3601))]);
    const millis = vector({ kind: "time", unit: "ms" }, 1, null, [bytes(Int32Array.of(3601))]);
    const nanos = vector({ kind: "time", unit: "ns" }, 1, null, [bytes(BigInt64Array.of(5_000_000_000n))]);
    expect([column(seconds), column(millis), column(nanos)]).toEqual([[3601000], [3601], [5000]]);
    for (const [unit, value] of [
      ["s", 7n],
      ["ms", 7000n],
      ["us", 7_000_000n],
      ["ns", 7_000_000_000n],
    ] as const) {
      const data = bytes(BigInt64Array.of(value));
      expect(column(vector({ kind: "timestamp", unit, timezone: null }, 1, null, [data]))).toEqual([value]);
      // With a zone the kernel has microseconds only; the instant is the same.
      expect(column(vector({ kind: "timestamp", unit, timezone: "Europe/Berlin" }, 1, null, [data]))).toEqual([
        7_000_000n,
      ]);
    }
  });

  it("the null type, large texts, large lists", () => {
    expect(column(vector({ kind: "null" }, 3, null, []))).toEqual([null, null, null]);
    expect(column(text(["a", null, "b"], true))).toEqual(["a", null, "b"]);
    const child = vector({ kind: "bool" }, 3, null, [Uint8Array.of(0b101)]);
    const list = vector(
      { kind: "list", child: { name: "item", type: child.type, nullable: true }, large: true },
      2,
      [true, false],
      [bytes(BigInt64Array.of(0n, 3n, 3n))],
      { children: [child] },
    );
    expect(column(list)).toEqual([[true, false, true], null]);
  });

  it("a map with a repeated key is the kernel's error, not an abort", () => {
    const keys = text(["k", "k"]);
    const struct: DataType = {
      kind: "struct",
      children: [
        { name: "key", type: keys.type, nullable: false },
        { name: "value", type: keys.type, nullable: true },
      ],
    };
    const entries = vector(struct, 2, null, [], { children: [keys, keys] });
    const [key, value] = struct.children;
    if (key === undefined || value === undefined) throw new Error("no fields");
    const map = vector({ kind: "map", key, value }, 1, null, [bytes(Int32Array.of(0, 2))], { children: [entries] });
    expect(() => column(map)).toThrow(/duplicate key/);
  });

  it("buffers that are too short, or offsets beyond the data, are refused before the kernel reads them", () => {
    const short = vector({ kind: "float", bits: 64 }, 4, null, [new Uint8Array(31)]);
    expect(() => column(short)).toThrow(/"c".*4 values needs 32 bytes in buffer 1, but has 31/);
    const beyond = vector({ kind: "utf8", large: false }, 1, null, [bytes(Int32Array.of(0, 9)), new Uint8Array(3)]);
    expect(() => column(beyond)).toThrow(/offsets 0 to 9 do not fit its 3 values/);
  });
});

/** Every type that comes out goes in again: expressions over i, NULL now and then. */
const EXPRESSIONS = [
  "i % 3 = 0",
  "(i % 100)::TINYINT",
  "i::SMALLINT",
  "i::UINTEGER",
  "i::BIGINT * 4000000000",
  "i::HUGEINT * i",
  "i::FLOAT / 3",
  "i::DOUBLE / 7",
  "(i / 4.0)::DECIMAL(9,2)",
  "(i * 1.25)::DECIMAL(18,3)",
  "(i * 1.25)::DECIMAL(38,3)",
  "repeat('ab' || i, (i % 9)::INT)",
  "('b' || i)::BLOB",
  "DATE '2020-01-01' + i::INT",
  "TIME '00:00:01' + to_seconds(i % 1000)",
  "TIMESTAMP '1969-01-01' + to_hours(i)",
  "(TIMESTAMP '1969-01-01' + to_hours(i))::TIMESTAMP_S",
  "(TIMESTAMP '1969-01-01' + to_hours(i))::TIMESTAMP_MS",
  "(TIMESTAMP '1969-01-01' + to_hours(i))::TIMESTAMP_NS",
  "TIMESTAMPTZ '2020-01-01 00:00:00+02' + to_hours(i)",
  "to_days(i::INT)",
  "[i, NULL, i + 1]",
  "range(i % 5)",
  "[i % 2 = 0, NULL, true]",
  "[[i % 3 = 0], NULL, []]",
  "{'x': i, 'y': 'q' || i, 'z': i % 2 = 0}",
  "{'o': {'i': i, 'b': i % 3 = 0}, 'l': [i % 2 = 0]}",
  "[{'a': i, 'b': i % 3 = 0}, NULL, {'a': NULL, 'b': NULL}]",
  "MAP {'k' || i: i % 2 = 0, 'l': NULL}",
  "[i % 2 = 0, NULL, i % 5 = 0]::BOOLEAN[3]",
  "[i::FLOAT, NULL]::FLOAT[2]",
  "{'f': [i, i + 1]::INTEGER[2], 's': [{'m': MAP {i: [i]}}]}",
];

describe("[A13] what comes out goes in again, wherever it is cut", () => {
  const ROWS = 5000;
  // An outer join makes NULLs of every type; CASE cannot for arrays.
  const source = (expression: string) =>
    `SELECT r AS n, v FROM range(${ROWS}) a(r) LEFT JOIN (SELECT i AS j, ${expression} AS v FROM range(${ROWS}) b(i) WHERE i % 7 <> 3) ON r = j ORDER BY r`;

  it.each(EXPRESSIONS)("%s", (expression) => {
    const whole = collect(connection, source(expression));
    const want = toRows(whole, EXACT);
    const native = inNativeMemory(whole);
    expect(through([whole], "FROM {input}")).toEqual(want);
    expect(through([native.batch], "FROM {input}")).toEqual(want);
    // Cut at odd places, some pieces empty, two scans of it in one query.
    const cuts = [0, 1, 1, 9, 2057, 2060, 4999, ROWS];
    const pieces = cuts.slice(1).map((end, index) => sliceBatch(native.batch, cuts[index] ?? 0, end));
    expect(through(pieces, "FROM {input}")).toEqual(want);
    expect(through(pieces, "SELECT a.n, a.v FROM {input} a JOIN {input} b ON a.n = b.n ORDER BY a.n")).toEqual(want);
    native.memory.free();
  });

  it("[A13] random slices of random columns", () => {
    const batches = EXPRESSIONS.map((expression) => collect(connection, source(expression)));
    fc.assert(
      fc.property(
        fc.nat(EXPRESSIONS.length - 1),
        fc.array(fc.tuple(fc.nat(ROWS), fc.nat(ROWS)), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (which, ranges, copied) => {
          const batch = batches[which];
          if (batch === undefined) return;
          const slices = ranges.map(([a, b]) => sliceBatch(batch, Math.min(a, b), Math.max(a, b)));
          const given = copied ? slices.map((slice) => concatBatches([slice])) : slices;
          expect(through(given, "SELECT v FROM {input}")).toEqual(
            slices.flatMap((slice) => toRows(slice, EXACT).map((row) => ({ v: row.v }))),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
