/** Numbers into types that were given: integers of 64 bits, decimals; and columns said to be as they came. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  columnsToBatch,
  type DeclaredTypes,
  parseTypeName,
  RowBuilder,
  toRows,
  typeName,
} from "../../src/arrow/index.ts";
import { ValueError } from "../../src/errors/index.ts";

const given = (types: Record<string, string>): DeclaredTypes =>
  new Map(Object.entries(types).map(([name, sql]) => [name, parseTypeName(sql)]));

/** What becomes of numbers as rows, and as a column; both must say the same. */
function taken(values: readonly number[], type: string): unknown[] {
  const types = given({ v: type });
  const builder = new RowBuilder(types);
  for (const v of values) builder.append({ v });
  const exact = { int64: "bigint", decimal: "string" } as const;
  const rows = toRows(builder.finish(), exact);
  expect(toRows(columnsToBatch({ v: Float64Array.from(values) }, types), exact)).toEqual(rows);
  return rows.map((row) => row.v);
}

describe("[A13] numbers into 64-bit integers", () => {
  const edges = [0, -0, 1, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1];

  test("every whole number within 2^53 is itself", () => {
    expect(taken(edges, "BIGINT")).toEqual(edges.map((v) => BigInt(v)));
    expect(
      taken(
        edges.filter((v) => v >= 0),
        "UBIGINT",
      ),
    ).toEqual(edges.filter((v) => v >= 0).map((v) => BigInt(v)));
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger()), (vs) => taken(vs, "BIGINT").every((v, i) => v === BigInt(vs[i] ?? 0))),
    );
  });

  test.each([0.5, -0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31 + 0.5])("%d is refused", (bad) => {
    const types = given({ v: "BIGINT" });
    expect(() => new RowBuilder(types).append({ v: bad })).toThrow(ValueError);
    expect(() => columnsToBatch({ v: Float64Array.of(1, bad, 2) }, types)).toThrow(/Column "v" \(BIGINT\) cannot hold/);
  });

  test("a negative one is refused where there is no sign", () => {
    const types = given({ v: "UBIGINT" });
    expect(() => new RowBuilder(types).append({ v: -1 })).toThrow(ValueError);
    expect(() => columnsToBatch({ v: Float64Array.of(1, -1) }, types)).toThrow(ValueError);
  });

  test("arrays of numbers of any kind, and lists of them", () => {
    const batch = columnsToBatch(
      { a: Int32Array.of(-1, 2), b: Uint8Array.of(3, 4), c: [Float64Array.of(1, 2), Int16Array.of(-3)] },
      given({ a: "BIGINT", b: "UBIGINT", c: "BIGINT[]" }),
    );
    expect(toRows(batch)).toEqual([
      { a: -1, b: 3, c: [1, 2] },
      { a: 2, b: 4, c: [-3] },
    ]);
  });
});

describe("[A13] numbers into decimals", () => {
  test("are rounded by their digits, half away from zero", () => {
    expect(taken([1.005, -1.005, 2.675, 0.125, -0.125, 1e-9, 1234567.891], "DECIMAL(12,2)")).toEqual([
      "1.01",
      "-1.01",
      "2.68",
      "0.13",
      "-0.13",
      "0.00",
      "1234567.89",
    ]);
  });

  test("what came out of a decimal goes back as it was, in every width", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 38 }),
        fc.integer({ min: 0, max: 38 }),
        fc.bigInt(),
        (precision, digits, n) => {
          const scale = Math.min(digits, precision);
          // A number holds 15 digits for sure.
          const unscaled = n % 10n ** BigInt(Math.min(precision, 15));
          const type = `DECIMAL(${precision},${scale})`;
          const builder = new RowBuilder(given({ v: type }));
          builder.append({ v: `${unscaled}e-${scale}` });
          const before = builder.finish();
          const [row] = toRows(before);
          const text = toRows(before, { decimal: "string" })[0]?.v;
          expect(taken([row?.v as number], type)).toEqual([text]);
        },
      ),
    );
  });

  test("by arithmetic or by digits, any number becomes the same", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e14, max: 1e14 }), fc.integer({ min: 0, max: 9 }), (v, scale) => {
        const type = `DECIMAL(30,${scale})`;
        const builder = new RowBuilder(given({ v: type }));
        // As text it has no way but by digits.
        builder.append({ v: String(v) });
        expect(taken([v], type)).toEqual([toRows(builder.finish(), { decimal: "string" })[0]?.v]);
      }),
    );
  });

  test("too many digits, or none, are refused", () => {
    const types = given({ v: "DECIMAL(4,2)" });
    for (const bad of [100, -99.995, 1e300, Number.NaN, Number.NEGATIVE_INFINITY]) {
      expect(() => new RowBuilder(types).append({ v: bad })).toThrow(ValueError);
      expect(() => columnsToBatch({ v: Float64Array.of(1, bad) }, types)).toThrow(ValueError);
    }
    expect(taken([99.99, -99.99], "DECIMAL(4,2)")).toEqual(["99.99", "-99.99"]);
  });
});

describe("[A13] columns said to be as they came", () => {
  const passed = given({ k: "BIGINT", tags: "INTEGER[]", gone: "DATE" });

  test("have the type they came with; what is declared goes before; one that is missing is no error", () => {
    const builder = new RowBuilder(given({ k: "SMALLINT" }), given({ k: "BIGINT", d: "DATE", gone: "DATE" }));
    builder.append({ k: 1, d: new Date(0), made: 2 });
    const batch = builder.finish();
    expect(batch.schema.fields.map(({ name, type }) => `${name} ${typeName(type)}`)).toEqual([
      "k SMALLINT",
      "d DATE",
      "made DOUBLE",
    ]);
    const columns = columnsToBatch({ k: Float64Array.of(1), made: [true] }, undefined, passed);
    expect(columns.schema.fields.map(({ type }) => typeName(type))).toEqual(["BIGINT", "BOOLEAN"]);
  });

  test("that do not fit after all: the column, its type, and what to declare", () => {
    const append = (row: object) => () => new RowBuilder(undefined, passed).append(row);
    const remedy = /If the function makes it anew, declare it: schema: \{ "k": "DOUBLE" \}\./;
    expect(append({ k: 0.5 })).toThrow(/Column "k" \(BIGINT\) cannot hold 0\.5/);
    expect(append({ k: 0.5 })).toThrow(remedy);
    expect(() => columnsToBatch({ k: Float64Array.of(0.5) }, undefined, passed)).toThrow(remedy);
    expect(append({ k: "a" })).toThrow(
      /"k" is BIGINT in the function's input,.* VARCHAR \("a"\).*schema: \{ "k": "VARCHAR" \}/,
    );
    expect(append({ tags: ["x"] })).toThrow(/"tags\[\]" is INTEGER in the function's input.*schema: \{ "tags": "…" \}/);
  });

  test("a decimal that a number cannot carry says how to keep its digits", () => {
    const builder = new RowBuilder(undefined, given({ v: "DECIMAL(18,0)" }));
    expect(() => builder.append({ v: 1e18 })).toThrow(/decimal: "string" keeps every digit/);
  });
});
