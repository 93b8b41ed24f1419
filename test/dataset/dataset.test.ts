/** Transformations over the real kernel, without processes. */
import { describe, expect, test } from "vitest";
import type { AnyExpr } from "../../src/dataset/expressions/index.ts";
import {
  coalesce,
  col,
  concat,
  type Dataset,
  fromItems,
  greatest,
  lit,
  range,
  sql,
  when,
} from "../../src/dataset/index.ts";
import { KernelError, OptionError, UnknownColumnError } from "../../src/errors/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";
import { engine, items, names } from "./people.ts";

describe("[A2] functions", () => {
  test("[A2] map, flatMap and filter", async () => {
    expect(
      await range(engine, 4)
        .map((row) => ({ double: row.id * 2 }))
        .takeAll(),
    ).toEqual([{ double: 0 }, { double: 2 }, { double: 4 }, { double: 6 }]);
    const flat = range(engine, 3).flatMap((row) => Array.from({ length: row.id }, () => ({ v: row.id })));
    expect(await flat.takeAll()).toEqual([{ v: 1 }, { v: 2 }, { v: 2 }]);
    expect(
      await range(engine, 6)
        .filter((row) => row.id % 2 === 1)
        .count(),
    ).toBe(3);
  });

  test("[A2] mapBatches over columns and over rows", async () => {
    const sums = range(engine, 10).mapBatches((batch) => ({ sum: [Array.from(batch.id).reduce((a, b) => a + b, 0)] }), {
      batchSize: 4,
    });
    expect(await sums.takeAll()).toEqual([{ sum: 6 }, { sum: 22 }, { sum: 17 }]);
    const sizes = range(engine, 10).mapBatches((rows) => [{ n: rows.length }], { batchFormat: "rows", batchSize: 8 });
    expect(await sizes.takeAll()).toEqual([{ n: 8 }, { n: 2 }]);
  });

  test("[A3] mapBatches with a class", async () => {
    class Adder {
      readonly by: number;
      constructor(by: number) {
        this.by = by;
      }
      call(batch: { id: ArrayLike<number> }) {
        return { id: Array.from(batch.id, (id) => id + this.by) };
      }
    }
    const ds = range(engine, 3).mapBatches(Adder, { constructorArgs: [10], concurrency: 2 });
    expect(await ds.takeAll()).toEqual([{ id: 10 }, { id: 11 }, { id: 12 }]);
    expect(engine.jobs.at(-1)?.operators.at(-1)).toMatchObject({ concurrency: { min: 2, max: 2 } });
  });

  test("[A2] options are checked where they are written", () => {
    const ds = range(engine, 3);
    expect(() => ds.mapBatches((batch) => batch, { batchSize: 0 })).toThrow(/batchSize is 0/);
    // @ts-expect-error a misspelt option
    expect(() => ds.map((row) => row, { maxInflight: 3 })).toThrow(/Did you mean "maxInFlight"/);
    // @ts-expect-error no such policy
    expect(() => ds.map((row) => row, { onError: "ignore" })).toThrow(OptionError);
    // @ts-expect-error not a function
    expect(() => ds.map("x")).toThrow(OptionError);
    expect(() => ds.map((row) => row, { concurrency: { min: 3, max: 2 } })).toThrow(/min \(3\) is above/);
  });

  test("[D7] memory of a function is a size, and no share", () => {
    const asks = (memory: number | string) => () => range(engine, 1).map((row) => row, { memory });
    for (const size of ["2 GiB", "512 MB", 2 ** 31, "1e9", 0]) expect(asks(size)).not.toThrow();
    for (const share of [0.5, 1, "50%"]) {
      expect(asks(share)).toThrow(OptionError);
      expect(asks(share)).toThrow(/^map: memory: .* is a share of the machine, .* a string such as "4 GiB"/);
    }
    for (const none of ["auto", "lots", -1, Number.NaN]) expect(asks(none)).toThrow(/^map: memory: .* is not a size/);
  });
});

describe("[A6] columns", () => {
  test("[A6] select by name and expression, drop, rename, withColumn", async () => {
    const ds = items()
      .select("name", col("age").multiply(2).as("twice"), col("city"))
      .withColumn("big", col("twice").gt(70))
      .rename({ name: "who" })
      .drop("city");
    expect(await ds.takeAll()).toEqual([
      { who: "Ann", twice: 62, big: false },
      { who: "Bob", twice: null, big: null },
      { who: "Cid", twice: 90, big: true },
      { who: "Dee", twice: 38, big: false },
    ]);
  });

  test("[A6] withColumn replaces in place", async () => {
    const replaced = items().select("name", "age").withColumn("name", col("name").upper());
    expect(Object.keys((await replaced.take(1))[0] ?? {})).toEqual(["name", "age"]);
    expect(await names(replaced)).toEqual(["ANN", "BOB", "CID", "DEE"]);
  });

  test("[A6] after a function, where the columns are not known", async () => {
    const mapped = () => items().map((row) => ({ name: row.name, age: row.age ?? 0 }));
    expect(await mapped().withColumn("age", col("age").add(1)).take(1)).toEqual([{ name: "Ann", age: 32 }]);
    expect(await mapped().withColumn("age", lit(1)).withColumn("x", col("age").add(1)).take(1)).toEqual([
      { name: "Ann", age: 1, x: 2 },
    ]);
    expect(await mapped().withColumn("a", col("age")).withColumn("b", col("a").add(1)).drop("a").take(1)).toEqual([
      { name: "Ann", age: 31, b: 32 },
    ]);
    expect(await mapped().rename({ age: "years" }).where(col("years").gt(40)).takeAll()).toEqual([
      { name: "Cid", years: 45 },
    ]);
    expect(await mapped().select("age").where(col("age").lt(20)).takeAll()).toEqual([{ age: 0 }, { age: 19 }]);
    expect(await mapped().fillNull({ age: 5 }).dropNull().count()).toBe(4);
    // @ts-expect-error there is no such column
    await expect(mapped().where(col("missing").gt(1)).takeAll()).rejects.toThrow(KernelError);
    // @ts-expect-error a column that reads itself must be there
    await expect(mapped().withColumn("no", col("no").add(1)).takeAll()).rejects.toThrow(KernelError);
    await expect(mapped().fillNull(0).takeAll()).rejects.toThrow(/Name the columns/);
  });

  test("[A6] a thousand withColumns, each on the one before, are a few flat SELECTs", async () => {
    let ds: Dataset = range(engine, 3);
    for (let i = 0; i < 1000; i++) ds = ds.withColumn(`c${i}`, col(i === 0 ? "id" : `c${i - 1}`).add(1));
    const rows = await ds.takeAll();
    expect(rows.map((row) => row.c999)).toEqual([1000, 1001, 1002]);
    let same: Dataset = range(engine, 3);
    for (let i = 0; i < 1000; i++) same = same.withColumn("id", col("id").add(1));
    expect((await same.takeAll()).map((row) => row.id)).toEqual([1000, 1001, 1002]);
    let square: Dataset = range(engine, 3);
    for (let i = 0; i < 1000; i++) square = square.withColumn("id", col("id").multiply(col("id")).modulo(7));
    expect(await square.count()).toBe(3);
    expect((await square.takeAll()).map((row) => row.id)).toEqual([0, 1, 2].map((start) => squared(start, 1000)));
  });

  test("[A6] dropNull and fillNull", async () => {
    expect(await names(items().dropNull())).toEqual(["Ann"]);
    expect(await names(items().dropNull(["age"]))).toEqual(["Ann", "Cid", "Dee"]);
    const filled = items().select("age", "city").fillNull("?");
    expect((await filled.takeAll()).map((row) => row.city)).toEqual(["Oslo", "Rome", "?", "Oslo"]);
    expect((await filled.takeAll())[1]?.age).toBeNull();
    expect((await items().fillNull({ age: -1, city: "none" }).takeAll())[1]).toMatchObject({ age: -1, city: "Rome" });
    // @ts-expect-error there is no such column
    await expect(items().fillNull({ aje: 1 }).takeAll()).rejects.toThrow(UnknownColumnError);
  });

  test("[A6] explode gives a row an item, none for null and empty lists", async () => {
    const ds = items().select("name", "tags").explode("tags");
    expect(await ds.takeAll()).toEqual([
      { name: "Ann", tags: "a" },
      { name: "Ann", tags: "b" },
      { name: "Cid", tags: "c" },
    ]);
    expect(await ds.where(col("tags").eq("b")).where(col("name").eq("Ann")).count()).toBe(1);
  });

  test("[A6] limit and offset, in plan order and together", async () => {
    const ids = async (ds: Dataset<{ id: number }>) => (await ds.takeAll()).map((row) => row.id);
    const ds = range(engine, 100, { overrideNumBlocks: 7 });
    expect(await ids(ds.limit(3))).toEqual([0, 1, 2]);
    expect(await ids(ds.offset(97))).toEqual([97, 98, 99]);
    expect(await ids(ds.offset(10).limit(5).offset(1).limit(2))).toEqual([11, 12]);
    expect(await ids(ds.limit(0))).toEqual([]);
    expect(await ids(ds.limit(5).where(col("id").gt(2)))).toEqual([3, 4]);
    expect(
      await ids(
        ds
          .where(col("id").ge(50))
          .limit(2)
          .map((row) => ({ id: -row.id })),
      ),
    ).toEqual([-50, -51]);
    expect(
      await ids(
        ds
          .map((row) => ({ id: row.id + 1 }))
          .where(col("id").gt(90))
          .offset(1)
          .limit(2),
      ),
    ).toEqual([92, 93]);
    expect(await ds.offset(40).limit(1000).count()).toBe(60);
    expect(() => ds.limit(-1)).toThrow(OptionError);
  });

  test("[A6] union by name, in a common type", async () => {
    const a = fromItems(engine, [{ x: 1, y: "a" }], { schema: { x: "INTEGER" } });
    const b = fromItems(engine, [{ y: "b", x: 2.5 }]);
    const both = a.union(b);
    expect((await both.schema()).toString()).toBe("x: DOUBLE\ny: VARCHAR");
    expect(await both.takeAll()).toEqual([
      { x: 1, y: "a" },
      { x: 2.5, y: "b" },
    ]);
    expect(
      await range(engine, 3)
        .union(range(engine, 3, 5), range(engine, 1))
        .where(col("id").lt(4))
        .count(),
    ).toBe(5);
    const functions = range(engine, 2).map((row) => ({ id: row.id * 10 }));
    expect(await functions.union(range(engine, 1)).takeAll()).toEqual([{ id: 0 }, { id: 10 }, { id: 0 }]);
    const other: Dataset = fromItems(engine, [{ z: 1 }]);
    await expect((range(engine, 1) as Dataset).union(other).takeAll()).rejects.toThrow(/has no "id"/);
    expect(() => range(engine, 1).union(range(new InProcessEngine(), 1))).toThrow(/different sessions/);
  });

  test("[A6] sample by fraction does not depend on how the source is cut", async () => {
    const picked = async (blocks: number) => {
      const ds = range(engine, 20000, { overrideNumBlocks: blocks }).sample({ fraction: 0.1, seed: 7 });
      return (await ds.takeAll()).map((row) => row.id);
    };
    const one = await picked(1);
    expect(one.length).toBeGreaterThan(1800);
    expect(one.length).toBeLessThan(2200);
    expect(await picked(13)).toEqual(one);
    const other = await range(engine, 20000).sample({ fraction: 0.1, seed: 8 }).takeAll();
    expect(other.map((row) => row.id)).not.toEqual(one);
    expect(
      await range(engine, 20000)
        .map((row) => row)
        .sample({ fraction: 0.5, seed: 1 })
        .count(),
    ).toBeGreaterThan(9500);
    expect(await range(engine, 100).sample({ fraction: 0 }).count()).toBe(0);
    expect(await range(engine, 100).sample({ fraction: 1 }).count()).toBe(100);
    expect(() => range(engine, 1).sample({ fraction: 2 })).toThrow(OptionError);
    // @ts-expect-error one of the two
    expect(() => range(engine, 1).sample({})).toThrow(/either fraction or rows/);
  });

  test("[A6] every seed gives a sample of its own, also of a half and after a function", async () => {
    const halves = new Set<string>();
    for (const seed of [0, 1, 2, 3]) {
      for (const ds of [range(engine, 100), range(engine, 1000).map((row) => row)]) {
        halves.add(JSON.stringify(await ds.sample({ fraction: 0.5, seed }).takeAll()));
      }
    }
    expect(halves.size).toBe(8);
  });

  test("[A6] sample of n rows gives exactly n different ones, the same by seed", async () => {
    const ds = range(engine, 5000, { overrideNumBlocks: 6 });
    const ids = (await ds.sample({ rows: 50, seed: 3 }).takeAll()).map((row) => row.id);
    expect(new Set(ids).size).toBe(50);
    expect((await ds.sample({ rows: 50, seed: 3 }).takeAll()).map((row) => row.id)).toEqual(ids);
    expect(Math.max(...ids)).toBeGreaterThan(2500);
    expect(
      await ds
        .map((row) => ({ id: row.id }))
        .sample({ rows: 10, seed: 1 })
        .count(),
    ).toBe(10);
    expect(await range(engine, 5).sample({ rows: 50 }).count()).toBe(5);
  });
});

function squared(start: number, times: number): number {
  let value = start;
  for (let i = 0; i < times; i++) value = (value * value) % 7;
  return value;
}

describe("[A7] expressions", () => {
  const value = async (expression: AnyExpr, row: Record<string, unknown> = { x: 1 }) => {
    const ds: Dataset = fromItems(engine, [row]);
    return (await ds.select(expression.as("v")).takeAll())[0]?.v;
  };

  test("[A7] arithmetic and mathematics", async () => {
    expect(await value(lit(7).divide(2))).toBe(3.5);
    expect(await value(lit(7).integerDivide(2))).toBe(3);
    expect(await value(lit(0.1).add(0.2))).toBe(0.1 + 0.2);
    expect(await value(col("x").subtract(3).negate().power(2).modulo(3))).toBe(1);
    expect(await value(lit(2.567).round(1))).toBe(2.6);
    expect(await value(lit(-3).abs().sqrt().floor())).toBe(1);
    expect(await value(lit(1).divide(0))).toBe(Number.POSITIVE_INFINITY);
  });

  test("[A7] comparison and logic follow SQL's nulls", async () => {
    expect(await value(col("x").eq(null), { x: 1 })).toBeNull();
    expect(await value(col("x").isSame(null), { x: null })).toBe(true);
    expect(await value(col("x").gt(0).and(col("x").lt(2)).not())).toBe(false);
    expect(await value(col("x").between(1, 1))).toBe(true);
    expect(await value(col("x").in([3, 1]))).toBe(true);
    expect(await value(col("x").in([]))).toBe(false);
    expect(await value(col("x").notIn([1]))).toBe(false);
    expect(await value(col("x").isNull().or(col("x").isNotNull()))).toBe(true);
    expect(await value(coalesce(col("x"), 5), { x: null })).toBe(5);
    expect(await value(greatest(col("x"), 5, 3))).toBe(5);
  });

  test("[A7] text", async () => {
    const s = { s: "  Héllo World " };
    expect(await value(col("s").trim().upper(), s)).toBe("HÉLLO WORLD");
    expect(await value(col("s").length(), s)).toBe(14);
    expect(await value(col("s").trim().substring(1, 5), s)).toBe("Héllo");
    expect(await value(col("s").contains("llo").and(col("s").startsWith("  H")).and(col("s").endsWith("d ")), s)).toBe(
      true,
    );
    expect(await value(col("s").like("%World_"), s)).toBe(true);
    expect(await value(col("s").trim().split(" "), s)).toEqual(["Héllo", "World"]);
    expect(await value(col("s").trim().replace("l", "L"), s)).toBe("HéLLo WorLd");
    expect(await value(concat(col("s"), "-", 1), s)).toBe("  Héllo World -1");
    expect(await value(col("s").regexpExtract("(W)(o)", 2), s)).toBe("o");
    expect(await value(col("s").regexpMatches("WORLD", "i"), s)).toBe(true);
    expect(await value(col("s").trim().padStart(13, "*"), s)).toBe("**Héllo World");
  });

  test("[A7] dates", async () => {
    const d = { d: new Date("2024-03-05T06:07:08.009Z") };
    const parts = [
      col("d").year(),
      col("d").month(),
      col("d").day(),
      col("d").hour(),
      col("d").minute(),
      col("d").second(),
    ];
    for (const [i, expected] of [2024, 3, 5, 6, 7, 8].entries())
      expect(await value(parts[i] ?? lit(0), d)).toBe(expected);
    expect(await value(col("d").millisecond(), d)).toBe(9);
    expect(await value(col("d").dayOfWeek(), d)).toBe(d.d.getUTCDay());
    expect(await value(col("d").epochMilliseconds(), d)).toBe(d.d.getTime());
    expect(await value(col("d").dateTrunc("month"), d)).toEqual(new Date("2024-03-01"));
    expect(await value(col("d").dateDiff("day", new Date("2024-03-15")), d)).toBe(10);
    expect(await value(col("d").dateAdd("day", 2).day(), d)).toBe(7);
    expect(await value(col("d").strftime("%Y/%m"), d)).toBe("2024/03");
    expect(await value(col("d").ge(new Date("2024-03-05")), d)).toBe(true);
    expect(await value(lit(d.d), d)).toEqual(d.d);
    // @ts-expect-error no such unit
    expect(() => col("d").dateTrunc("mont")).toThrow(/Did you mean "month"/);
  });

  test("[A7] lists, structs, maps", async () => {
    const row = { l: [3, 1, 2], s: { a: 1, "b c": "x" }, m: new Map([["k", 5]]) };
    expect(await value(col("l").listLength(), row)).toBe(3);
    expect(await value(col("l").listGet(0), row)).toBe(3);
    expect(await value(col("l").listGet(-1), row)).toBe(2);
    expect(await value(col("l").listGet(9), row)).toBeNull();
    expect(await value(col("l").listContains(2), row)).toBe(true);
    expect(await value(col("l").listSort().listSlice(0, 2), row)).toEqual([1, 2]);
    expect(await value(col("l").listSum(), row)).toBe(6);
    expect(await value(col("s").field("b c"), row)).toBe("x");
    expect(await value(col("m").mapGet("k"), row)).toBe(5);
  });

  test("[A7] cast, when and raw SQL", async () => {
    expect(await value(lit("12").cast("BIGINT").add(1))).toBe(13);
    expect(await value(lit("x").tryCast("BIGINT"))).toBeNull();
    const size = when(col("x").gt(10)).then("big").when(col("x").gt(5)).then("middle").otherwise("small");
    expect(await value(size, { x: 7 })).toBe("middle");
    expect(await value(when(col("x").gt(10)).then(1), { x: 7 })).toBeNull();
    expect(await value(sql("list_sum(range(x::BIGINT + 3)) -- a comment"), { x: 1 })).toBe(6);
    expect(() => lit(1).cast("INT); DROP TABLE x")).toThrow(OptionError);
  });

  test("[A7] values are quoted, never pasted", async () => {
    const nasty = [`'; DROP TABLE x; --`, `a"b`, "\0nul\0", "{input}", "$1 $& \\", "😀\n\t"];
    for (const text of nasty) {
      expect(await value(lit(text))).toBe(text);
      expect(await value(col("s").eq(text), { s: text })).toBe(true);
      expect(
        await fromItems(engine, [{ [text.replaceAll("\0", "")]: 1 }] as Record<string, number>[]).takeAll(),
      ).toHaveLength(1);
    }
    const quoted: Dataset = fromItems(engine, [{ 'we"ird; name': 1 }]);
    expect(await quoted.withColumn("y'", col('we"ird; name').add(1)).takeAll()).toEqual([
      { 'we"ird; name': 1, "y'": 2 },
    ]);
    const values = [
      null,
      true,
      -5,
      2 ** 40,
      1.5e-7,
      -0.25,
      10n ** 30n,
      [1, 2],
      { a: [null, "x"] },
      new Uint8Array([1, 39]),
    ];
    for (const each of values) {
      expect(await value(lit(each as never))).toEqual(typeof each === "bigint" ? 1e30 : each);
    }
  });

  test("[A7] volatile SQL is computed once a row", async () => {
    const ds = range(engine, 200)
      .withColumn("r", sql<number>("random()"))
      .withColumn("s", col("r"))
      .where(col("r").lt(0.5));
    for (const row of await ds.takeAll()) {
      expect(row.s).toBe(row.r);
      expect(row.r).toBeLessThan(0.5);
    }
  });
});
