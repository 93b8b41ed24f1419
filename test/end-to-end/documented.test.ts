/**
 * What the pages in docs/ say and no other test looks at: corners of expressions, options and files of several schemas.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { col, KernelError, lit } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("documented");
const s = sessions.open();
const at = (name: string) => join(sessions.directory, name);

describe("expressions", () => {
  test("[A7] integerDivide drops the fraction of floats too, towards zero", async () => {
    const numbers = s.fromItems([{ a: 7.5 }, { a: -7.5 }, { a: 7 }]);
    const rows = await numbers.select(col("a").integerDivide(2).as("v")).takeAll();
    expect(rows.map(({ v }) => v)).toEqual([3, -3, 3]);
    const ints = s.range(7, 8).select(col("id").integerDivide(2).as("v"), col("id").integerDivide(0).as("none"));
    expect(await ints.takeAll()).toEqual([{ v: 3, none: null }]);
    expect((await ints.schema()).columns[0]).toEqual({ name: "v", type: "BIGINT" });
  });

  test("[A7] division by zero is Infinity, or NaN for 0", async () => {
    const rows = await s.range(2).select(col("id").divide(0).as("v")).takeAll();
    expect(rows.map(({ v }) => v)).toEqual([Number.NaN, Number.POSITIVE_INFINITY]);
  });

  test("[A7] listSlice cuts as Array.slice does", async () => {
    const items = [1, 2, 3, 4];
    const bounds: readonly (readonly [number, number?])[] = [
      [1, 3],
      [0, -1],
      [-2],
      [1],
      [-3, -1],
      [0, 0],
      [9],
      [-9, 2],
    ];
    for (const [start, end] of bounds) {
      const rows = await s.range(1).select(lit(items).listSlice(start, end).as("v")).takeAll();
      expect(rows, `${start}, ${end}`).toEqual([{ v: items.slice(start, end) }]);
    }
  });
});

describe("arguments", () => {
  test("[A6] fillNull without a value is refused", () => {
    const ds = s.fromItems([{ n: null as number | null }]);
    expect(() => ds.fillNull(null as never)).toThrow("fillNull: give a value, not null");
    expect(() => ds.fillNull(undefined as never)).toThrow("fillNull: give a value, not undefined");
  });

  test("[A6] drop without a column is refused in plain words", () => {
    expect(() => s.range(1).drop()).toThrow("drop: name at least one column.");
  });

  test("[A10] an option that take, takeAll and toArrow do not have is refused", async () => {
    const ds = s.range(1);
    await expect(ds.take(1, { in64: "bigint" } as never)).rejects.toThrow(
      'there is no option "in64". Did you mean "int64"?',
    );
    await expect(ds.takeAll({ batchSize: 1 } as never)).rejects.toThrow('takeAll: there is no option "batchSize"');
    await expect(ds.toArrow({ prefetch: 1 } as never)).rejects.toThrow('toArrow: there is no option "prefetch"');
  });

  test("[A11] a directory that cannot be made is a WriteError before anything runs", async () => {
    await expect(s.range(1).writeParquet("/dev/null/out")).rejects.toMatchObject({
      name: "WriteError",
      message: "writeParquet: /dev/null/out cannot be made: /dev/null is not a directory.",
    });
  });
});

describe("partitions", () => {
  test("[A11] a number of JavaScript comes back from a folder's name as a number", async () => {
    await s
      .fromItems([
        { year: 2023, half: 0.5, version: "1.10", v: 1 },
        { year: 2024, half: 1, version: "2.0", v: 2 },
      ])
      .writeParquet(at("years"), { partitionBy: ["year", "half", "version"] });
    const years = s.readParquet(at("years"));
    expect((await years.schema()).columns.slice(1)).toEqual([
      { name: "year", type: "BIGINT" },
      { name: "half", type: "DOUBLE" },
      { name: "version", type: "VARCHAR" },
    ]);
    expect(await years.where(col("year").ge(2024)).takeAll()).toEqual([{ v: 2, year: 2024, half: 1, version: "2.0" }]);
  });
});

describe("what text files can hold", () => {
  const values = s.fromItems([
    { n: Number.NaN, t: "" },
    { n: Number.NEGATIVE_INFINITY, t: null },
    { n: 1, t: "x" },
  ]);

  test("[A11] JSON has null for NaN and the infinities, and tells an empty text from null", async () => {
    await values.writeJson(at("json"));
    const rows = await s.readJson(at("json")).takeAll();
    expect(rows).toEqual([
      { n: null, t: "" },
      { n: null, t: null },
      { n: 1, t: "x" },
    ]);
  });

  test("[A11] CSV keeps NaN and the infinities, and tells an empty text from null", async () => {
    const { files } = await values.writeCsv(at("csv"));
    expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(['n,t\nnan,""\n-inf,\n1.0,x\n']);
    const rows = await s.readCsv(at("csv")).takeAll();
    expect(rows).toEqual([
      { n: Number.NaN, t: "" },
      { n: Number.NEGATIVE_INFINITY, t: null },
      { n: 1, t: "x" },
    ]);
  });
});

describe("groups and joins", () => {
  test("[A8] std and var of what has no square are an error of the kernel", async () => {
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      const numbers = s.fromItems([{ n }, { n: 1 }]);
      await expect(numbers.std("n"), `${n}`).rejects.toThrow("out of range");
      await expect(numbers.var("n"), `${n}`).rejects.toThrow(KernelError);
    }
  });

  test("[A9] a number and a text are never equal keys, also where functions make them", async () => {
    const numbers = s.range(3).map((row) => ({ k: row.id + 0 }));
    const texts = s.fromItems([{ t: "1" }, { t: "7" }]).map((row) => ({ t: `${row.t}` }));
    const joined = numbers.join(texts, { leftOn: "k", rightOn: "t" });
    await expect(joined.takeAll()).rejects.toThrow(/"k" is DOUBLE on the left and "t" VARCHAR.*never equal. Cast/);
    const cast = numbers.join(texts.withColumn("t", col("t").cast("DOUBLE")), { leftOn: "k", rightOn: "t" });
    expect(await cast.takeAll()).toEqual([{ k: 1 }]);
  });
});

describe("Parquet files of several schemas", () => {
  test("[A1] a column has the type that holds the values of every file", async () => {
    await s.range(3).writeParquet(at("whole"));
    await s.fromItems([{ id: 0.5, extra: "e" }]).writeParquet(at("half"));
    const both = s.readParquet([at("whole"), at("half")], { columns: ["id"] });
    expect((await both.schema()).columns).toEqual([{ name: "id", type: "DOUBLE" }]);
    expect((await both.takeAll()).map(({ id }) => id).sort()).toEqual([0, 0.5, 1, 2]);
    expect(await both.where(col("id").eq(0.5)).count()).toBe(1);
    const cut = s.readParquet([at("whole"), at("half")], {
      columns: ["id"],
      overrideNumBlocks: 4,
      includePaths: true,
    });
    expect((await cut.takeAll()).map(({ id }) => id).sort()).toEqual([0, 0.5, 1, 2]);
  });

  test("[A1] a column that one file lacks is an error, unless the columns asked for are in all", async () => {
    const paths = [at("half"), at("whole")];
    await expect(s.readParquet(paths).takeAll()).rejects.toThrow('has no column "extra"');
    const rows = await s.readParquet(paths, { columns: ["id"] }).takeAll();
    expect(rows.map(({ id }) => id).sort()).toEqual([0, 0.5, 1, 2]);
  });
});
