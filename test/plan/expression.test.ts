import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { quoteIdentifier, quoteText } from "../../src/arrow/index.ts";
import { col, lit } from "../../src/dataset/index.ts";
import { OptionError } from "../../src/errors/index.ts";
import { Kernel } from "../../src/kernel/index.ts";
import { checkTypeName, expressionSql, literalSql } from "../../src/plan/index.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

describe("[A7] values are quoted, never pasted", () => {
  test("[A7] any text comes back as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(connection.all(`SELECT ${quoteText(text)} AS v`)).toEqual([{ v: text }]);
      }),
      { numRuns: 300 },
    );
  });

  test("[A7] any name is a column", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (name) => {
        if (name.includes("\0")) return;
        expect(connection.all(`SELECT 1 AS ${quoteIdentifier(name)}`)).toEqual([{ [name]: 1 }]);
      }),
      { numRuns: 200 },
    );
    expect(() => expressionSql(col("a\0b").expression)).toThrow('The name "a\\u0000b" has a NUL character');
  });

  test("[A7] any number comes back exactly", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        for (const compared of [false, true]) {
          const [row] = connection.all(`SELECT CAST(${literalSql(value, compared)} AS DOUBLE) AS v`);
          expect(row?.v).toBe(value);
        }
      }),
      { numRuns: 500 },
    );
    expect(expressionSql(lit(0.5).expression)).toBe("CAST('0.5' AS DOUBLE)");
    expect(expressionSql(col("a").gt(0.5).expression)).toBe('("a" > 0.5)');
    expect(expressionSql(col("d").ge(new Date("2020-01-02")).expression)).toBe(`("d" >= DATE '2020-01-02')`);
    expect(expressionSql(lit(new Date("2020-01-02")).expression)).toBe("TIMESTAMP '2020-01-02 00:00:00.000'");
    expect(literalSql(-(2n ** 63n))).toBe("CAST('-9223372036854775808' AS BIGINT)");
    expect(() => lit(new Date(Number.NaN)).eq(1) && expressionSql(lit(new Date(Number.NaN)).expression)).toThrow(
      OptionError,
    );
    // @ts-expect-error a function is no value
    expect(() => lit(() => 1)).toThrow(OptionError);
  });

  test("[A7] a thousand conditions are one flat AND", () => {
    let all = col("a").gt(0);
    for (let i = 1; i < 1000; i++) all = all.and(col("a").ne(i));
    expect(expressionSql(all.expression).match(/^\(+/)?.[0]).toHaveLength(2);
  });
});

test("type names are checked by their spelling", () => {
  for (const type of [
    "BIGINT",
    "DECIMAL(12, 2)",
    "INTEGER[3][]",
    'STRUCT(a INTEGER, "b c" VARCHAR[])',
    "TIMESTAMP WITH TIME ZONE",
  ]) {
    expect(checkTypeName(type, "x")).toBe(type);
  }
  for (const type of ["", "INT)", "INT; DROP", "INT--", "'a'", "INT) AS x, (SELECT 1", "(INT"]) {
    expect(() => checkTypeName(type, "x")).toThrow(OptionError);
  }
});
