import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  blockBytes,
  columnsToBatch,
  type RecordBatch,
  type Row,
  readArrowBytes,
  readBlock,
  toRows,
  typeName,
} from "../../src/arrow/index.ts";
import { ValueError } from "../../src/errors/index.ts";
import { withoutZstd, withZstd } from "../support/requires.ts";

/** Written by pyarrow; data/make.py says how. */
function fixture(name: string): Uint8Array {
  return readFileSync(new URL(`data/${name}`, import.meta.url));
}

const rowsOf = (batches: readonly RecordBatch[]): Row[] => batches.flatMap((batch) => toRows(batch));

/** What make.py wrote in row i. */
function everything(i: number): Row {
  const row: Row = {
    bool: i % 2 === 0,
    int8: (i % 100) - 50,
    uint16: i * 60,
    int64: 0 - i * 10 ** 12,
    float16: i / 8,
    float32: i / 4,
    float64: i / 3,
    decimal: (i - 300) / 100,
    decimal256: 0 - i,
    string: `row ${i} ${"é".repeat(i % 3)}`,
    large_string: `large ${i}`,
    binary: Uint8Array.of(i % 256, 1),
    fixed: Uint8Array.of(i % 256, 2, 3),
    date: new Date(Date.UTC(2020, 0, 1 + i)),
    timestamp: new Date(Math.floor((i * 1_000_001) / 1000)),
    nanos: new Date(Math.floor((i * 1_000_000_001 - 5) / 1_000_000)),
    time: i,
    duration: i,
    interval: { months: i, days: 0 - i, nanos: i * 1000 },
    list: [i, null, i + 1].slice(0, i % 4),
    fixed_list: [i / 2, i / 4],
    struct: { x: i, y: String(i) },
    map: new Map([[`k${i}`, i]]),
    dictionary: `word ${i % 10}`,
  };
  if (i % 7 === 3) for (const name of Object.keys(row)) row[name] = null;
  return { ...row, null: null };
}

const range = (start: number, end: number): number[] =>
  Array.from({ length: end - start }, (_, index) => start + index);

describe("[A1] Arrow files of another writer", () => {
  test("pyarrow's default, LZ4: every type, several batches", () => {
    const { batches, schema } = readArrowBytes(fixture("everything.lz4.feather"));
    expect(batches.map((batch) => batch.length)).toEqual([100, 100, 100]);
    expect(rowsOf(batches)).toEqual(range(0, 300).map(everything));
    const types = Object.fromEntries(schema.fields.map((field) => [field.name, typeName(field.type)]));
    expect(types).toMatchObject({
      decimal: "DECIMAL(12,2)",
      timestamp: "TIMESTAMP WITH TIME ZONE",
      nanos: "TIMESTAMP_NS",
      struct: "STRUCT(x SMALLINT, y VARCHAR)",
      map: "MAP(VARCHAR, INTEGER)",
      fixed_list: "FLOAT[2]",
      dictionary: "VARCHAR",
    });
  });

  test("uncompressed, cut out of a larger table", () => {
    expect(rowsOf(readArrowBytes(fixture("everything.plain.feather")).batches)).toEqual(range(5, 45).map(everything));
  });

  withZstd.test("zstd, where this Node has it", () => {
    expect(rowsOf(readArrowBytes(fixture("everything.zstd.feather")).batches)).toEqual(range(0, 20).map(everything));
  });

  withoutZstd.test("zstd, where this Node has it not, is an error with the remedy", () => {
    expect(() => readArrowBytes(fixture("everything.zstd.feather"))).toThrow(/Node 22\.15.*lz4/);
  });

  test("string views become strings", () => {
    const expected = range(0, 300).map((i) => ({
      text: i % 7 === 3 ? null : `${i}`.repeat(i % 9),
      bytes: i % 7 === 3 ? null : new Uint8Array(i % 30).fill(i % 256),
    }));
    expect(rowsOf(readArrowBytes(fixture("views.arrows")).batches)).toEqual(expected);
  });

  test("dictionary deltas add to a dictionary, replacements take its place", () => {
    const words = (names: (string | null)[]): Row[] => names.map((word) => ({ word }));
    expect(rowsOf(readArrowBytes(fixture("deltas.arrows")).batches)).toEqual(
      words(["zero", "one", null, "zero", "one", "two", "three", null, "zero", "one", "two", "three", "four", null]),
    );
    expect(rowsOf(readArrowBytes(fixture("replacements.arrows")).batches)).toEqual(
      words(["zero", "one", null, "two", "three", null]),
    );
  });

  test("a type that is not read is named, with its column", () => {
    expect(() => readArrowBytes(fixture("union.arrows"))).toThrow(/Column "u".*union/);
  });
});

describe("[A1] bytes that are not Arrow data", () => {
  const whole = fixture("everything.plain.feather");
  const stream = fixture("views.arrows");

  test("cut short anywhere: a ValueError, never another error or half the data", () => {
    for (let end = 0; end < whole.length; end += Math.ceil(whole.length / 200)) {
      expect(() => readArrowBytes(whole.subarray(0, end)), `first ${end} bytes`).toThrow(ValueError);
    }
  });

  test("a stream cut inside a message", () => {
    for (const end of [3, 5, 100, stream.length - 100]) {
      expect(() => readArrowBytes(stream.subarray(0, end)), `first ${end} bytes`).toThrow(/cut short|Not Arrow data/);
    }
  });

  test("something else altogether", () => {
    expect(() => readArrowBytes(new TextEncoder().encode('{"id": 1}\n{"id": 2}\n'))).toThrow(ValueError);
    expect(() => readArrowBytes(new Uint8Array(4096))).toThrow(/Not Arrow data/);
    expect(() => readBlock(new Uint8Array(64))).toThrow(/Not a block/);
  });

  test("vectors that do not hold together are refused before native code sees them", () => {
    const damage = (change: (buffers: readonly (Uint8Array | null)[]) => void, column = 0): (() => unknown) => {
      const bytes = blockBytes(columnsToBatch({ s: ["ab", "cd", "é"], l: [[1], [2, 3], []] }));
      change(readBlock(bytes).columns[column]?.buffers ?? []);
      return () => readArrowBytes(bytes);
    };
    expect(damage(() => {})).not.toThrow();
    expect(damage(([, offsets]) => offsets?.set([200], 12))).toThrow(/"s" has offset 200 of 6/);
    expect(damage(([, offsets]) => offsets?.set([1], 8))).toThrow(/"s" has offset 1 after 2, at row 2/);
    expect(damage(([, , data]) => data?.set([0xff], 4))).toThrow(/"s" holds text that is not UTF-8/);
    expect(damage(([, offsets]) => offsets?.set([9], 12), 1)).toThrow(/"l" has offset 9 of 3/);
    const indices = fixture("replacements.arrows");
    const { batches } = readArrowBytes(indices);
    batches[0]?.columns[0]?.buffers[1]?.set([7]);
    expect(() => readArrowBytes(indices)).toThrow(/index 7 into a dictionary of 2/);
  });

  test("damaged bytes give a ValueError or other values, and never hang or crash", () => {
    const lz4 = fixture("everything.lz4.feather");
    let refused = 0;
    for (let at = 8; at < lz4.length; at += 61) {
      const damaged = Uint8Array.from(lz4);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      try {
        readArrowBytes(damaged);
      } catch (error) {
        expect(error, `byte ${at}: ${error instanceof Error ? error.stack : error}`).toBeInstanceOf(ValueError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });
});
