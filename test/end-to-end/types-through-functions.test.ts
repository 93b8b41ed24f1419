/** A function that returns columns as they came keeps their types; what it makes gets the type of its values. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("kept-types");
const s = sessions.open({ preserveOrder: true });

/** A value of each type that the kernel gives, and is given back. */
const VALUES: Readonly<Record<string, string>> = {
  bool: "true",
  int8: "(-5)::TINYINT",
  uint8: "200::UTINYINT",
  int16: "(-500)::SMALLINT",
  uint16: "60000::USMALLINT",
  int32: "(-70000)::INTEGER",
  uint32: "4000000000::UINTEGER",
  int64: "(-9007199254740991)::BIGINT",
  uint64: "12::UBIGINT",
  float: "1.5::FLOAT",
  double: "0.1::DOUBLE",
  small: "(-1.25)::DECIMAL(4,2)",
  decimal: "123.45::DECIMAL(10,2)",
  wide: "(-5.0001)::DECIMAL(38,4)",
  text: "'héllo ✓'",
  blob: "'\\xAA\\x00'::BLOB",
  date: "DATE '2020-02-29'",
  seconds: "TIMESTAMP_S '1969-12-31 23:59:59'",
  milliseconds: "TIMESTAMP_MS '1969-12-31 23:59:59.5'",
  timestamp: "TIMESTAMP '1969-12-31 23:59:59.5'",
  nanoseconds: "TIMESTAMP_NS '2020-01-02 03:04:05.678'",
  zoned: "TIMESTAMPTZ '2020-01-02 03:04:05+02'",
  time: "TIME '00:00:01.500123'",
  interval: "INTERVAL '14 months 3 days 4 seconds'",
  list: "[1, NULL, 3]",
  days: "[DATE '2020-02-29', NULL]",
  fixed: "[1.5, 2.5]::DOUBLE[2]",
  struct: "{'a': 1::SMALLINT, 'b': ['x', NULL], 'c': 1.5::DECIMAL(6,1)}",
  map: "MAP {'k': 7::BIGINT}",
  dictionary: "'b'::ENUM('a', 'b')",
};

/** A null in every second row, or no nulls. */
const withNulls = s
  .range(6)
  .select(...Object.entries(VALUES).map(([name, text]) => sql(`list_value(${text}, NULL)[1 + id % 2]`).as(name)));
/** An enum is text to JavaScript, and its words are not part of a block: text is what comes back. */
async function typesOf(table: typeof full) {
  const { columns } = await table.schema();
  return columns.map(({ name, type }) => ({ name, type: name === "dictionary" ? "VARCHAR" : type }));
}
const full = s.range(6).select(...Object.entries(VALUES).map(([name, text]) => sql(text).as(name)));

describe.each([
  ["with nulls", withNulls],
  ["without nulls", full],
])("every type, %s", (_, table) => {
  const EXTRA = { name: "extra", type: "DOUBLE" };

  test("[A13] through map, with a column made", async () => {
    const mapped = table.map((row) => ({ ...row, extra: 1 }));
    expect((await mapped.schema()).columns).toEqual([...(await typesOf(table)), EXTRA]);
    expect(await mapped.drop("extra").takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] through flatMap", async () => {
    const mapped = table.flatMap((row) => [row, { ...row }]);
    expect((await mapped.schema()).columns).toEqual(await typesOf(table));
    const before = await table.takeAll();
    expect(await mapped.takeAll()).toEqual(before.flatMap((row) => [row, row]));
  });

  test("[A13] through an async map", async () => {
    const mapped = table.map(async (row) => ({ ...row, extra: await Promise.resolve(1) }));
    expect((await mapped.schema()).columns).toEqual([...(await typesOf(table)), EXTRA]);
    expect(await mapped.drop("extra").takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] through batches of columns", async () => {
    const mapped = table.mapBatches((batch) => ({ ...batch }), { batchSize: 4 });
    expect((await mapped.schema()).columns).toEqual(await typesOf(table));
    expect(await mapped.takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] through batches of rows", async () => {
    const mapped = table.mapBatches((rows) => rows.map((row) => ({ ...row, extra: 1 })), {
      batchFormat: "rows",
      batchSize: 4,
    });
    expect((await mapped.schema()).columns).toEqual([...(await typesOf(table)), EXTRA]);
    expect(await mapped.drop("extra").takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] asked for exact values, through map and batches", async () => {
    const exact = { int64: "bigint", decimal: "string", timestamp: "bigint" } as const;
    for (const mapped of [table.map((row) => ({ ...row }), exact), table.mapBatches((batch) => batch, exact)]) {
      expect((await mapped.schema()).columns).toEqual(await typesOf(table));
      expect(await mapped.takeAll()).toEqual(await table.takeAll());
    }
  });
});

describe("numbers past what JavaScript's hold", () => {
  const huge = s
    .range(2)
    .select(
      sql("9223372036854775807 - id").as("int64"),
      sql("(12345678901234567890.12 + id)::DECIMAL(38,2)").as("decimal"),
      sql("TIMESTAMP '2020-01-01 00:00:00.000001'").as("moment"),
    );
  const exact = { int64: "bigint", decimal: "string", timestamp: "bigint" } as const;
  const texts = sql('concat_ws(\' \', typeof(int64), int64, typeof("decimal"), "decimal", moment)').as("text");

  test("[A13] come through every digit, where asked for exactly", async () => {
    const expected = await huge.select(texts).takeAll();
    expect(expected[0]?.text).toBe(
      "BIGINT 9223372036854775807 DECIMAL(38,2) 12345678901234567890.12 2020-01-01 00:00:00.000001",
    );
    expect(
      await huge
        .map((row) => ({ ...row }), exact)
        .select(texts)
        .takeAll(),
    ).toEqual(expected);
    expect(
      await huge
        .mapBatches((batch) => batch, exact)
        .select(texts)
        .takeAll(),
    ).toEqual(expected);
  });
});

describe("what keeps its type, and what does not", () => {
  const orders = s
    .range(3)
    .rename({ id: "key" })
    .withColumn("price", sql("(key * 1.5)::DECIMAL(15,2)"))
    .withColumn("day", sql("DATE '2020-01-01'"));
  const types = async (ds: { schema(): Promise<{ toString(): string }> }) => (await ds.schema()).toString();

  test("[A13] a renamed column keeps its type, a made one has that of its values", async () => {
    const mapped = orders.map((row) => ({
      id: row.key,
      day: row.day,
      tax: Number(row.price) * 0.2,
      next: row.key + 1,
    }));
    expect(await types(mapped)).toBe("id: BIGINT\nday: DATE\ntax: DOUBLE\nnext: DOUBLE");
  });

  test("[A13] a row changed in place keeps the rest", async () => {
    const mapped = orders.map((row) => {
      row.key = row.key + 0.5;
      return row;
    });
    expect(await types(mapped)).toBe("key: DOUBLE\nprice: DECIMAL(15,2)\nday: DATE");
    expect((await mapped.takeAll()).map((row) => row.key)).toEqual([0.5, 1.5, 2.5]);
  });

  test("[A13] a batch written in place keeps the rest", async () => {
    const mapped = orders.mapBatches((batch) => {
      const keys = batch.key as Float64Array;
      for (let i = 0; i < keys.length; i++) keys[i] = (keys[i] ?? 0) / 2;
      return { ...batch, key: keys };
    });
    expect(await types(mapped)).toBe("key: DOUBLE\nprice: DECIMAL(15,2)\nday: DATE");
  });

  test("[A13] what cannot be followed has the types of its values", async () => {
    const helper = (row: { key: number }) => ({ ...row });
    expect(await types(orders.map((row) => helper(row)))).toBe("key: DOUBLE\nprice: DOUBLE\nday: TIMESTAMP");
  });

  test("[A13] a declared type goes before the one that would be kept", async () => {
    const mapped = orders.map((row) => ({ ...row }), { schema: { key: "INTEGER", price: "DOUBLE" } });
    expect(await types(mapped)).toBe("key: INTEGER\nprice: DOUBLE\nday: DATE");
  });

  test("[A13] types are kept through SQL and further functions", async () => {
    const mapped = orders
      .map((row) => ({ ...row, a: 1 }))
      .withColumn("b", sql("key + 1"))
      .mapBatches((batch) => ({ ...batch, c: batch.key.length > 0 ? Array.from(batch.key, String) : [] }))
      .flatMap((row) => (row.key > 0 ? [row] : []));
    expect(await types(mapped)).toBe("key: BIGINT\nprice: DECIMAL(15,2)\nday: DATE\na: DOUBLE\nb: BIGINT\nc: VARCHAR");
  });

  test("[A13] a column that is changed behind the analysis is an error with its remedy", async () => {
    const mapped = orders.flatMap((row) =>
      [row.key]
        .map(() => ({ ...row }))
        .filter((made) => {
          made.key = 0.5;
          return true;
        }),
    );
    await expect(mapped.takeAll()).rejects.toThrow(
      /Column "key" \(BIGINT\) cannot hold 0\.5: .*declare it: schema: \{ "key": "DOUBLE" \}/,
    );
    const declared = orders.flatMap(
      (row) =>
        [row.key]
          .map(() => ({ ...row }))
          .filter((made) => {
            made.key = 0.5;
            return true;
          }),
      { schema: { key: "DOUBLE" } },
    );
    expect((await declared.takeAll()).map((row) => row.key)).toEqual([0.5, 0.5, 0.5]);
  });

  test("[A11] partitions by an integer that came through functions are whole numbers", async () => {
    const out = join(sessions.directory, "partitions");
    await s
      .range(9)
      .withColumn("k", sql("id % 3"))
      .map((row) => ({ ...row, extra: row.id / 2 }))
      .writeParquet(out, { partitionBy: ["k"] });
    expect(readdirSync(out).sort()).toEqual(["k=0", "k=1", "k=2"]);
  });
});

describe("batches of rows", () => {
  const orders = s
    .range(6)
    .withColumn("day", sql<Date>("DATE '2020-01-01' + id::INTEGER"))
    .withColumn("k", sql<number>("(id % 2)::SMALLINT"));
  const rows = { batchFormat: "rows", batchSize: 4 } as const;
  const types = async (ds: { schema(): Promise<{ toString(): string }> }) => (await ds.schema()).toString();

  test("[A13] rows that are filtered, sorted, looped over or awaited keep the types of what passes", async () => {
    expect(await types(orders.mapBatches((all) => all.filter((row) => row.id > 1), rows))).toBe(
      "id: BIGINT\nday: DATE\nk: SMALLINT",
    );
    const looped = orders.mapBatches((all) => {
      const out: { key: number; day: Date; half: number }[] = [];
      for (const { id, day } of all.sort((a, b) => b.id - a.id)) out.push({ key: id, day, half: id / 2 });
      return out;
    }, rows);
    expect(await types(looped)).toBe("key: BIGINT\nday: DATE\nhalf: DOUBLE");
    expect((await looped.takeAll()).map((row) => row.key)).toEqual([3, 2, 1, 0, 5, 4]);
    const awaited = orders.mapBatches(
      async (all) => Promise.all(all.map(async (row) => ({ ...row, k: await Promise.resolve(row.k + 0.5) }))),
      rows,
    );
    expect(await types(awaited)).toBe("id: BIGINT\nday: DATE\nk: DOUBLE");
    class Marks {
      readonly mark = 7;
      call(all: { id: number; day: Date }[]) {
        return all.map((row) => ({ ...row, mark: this.mark }));
      }
    }
    expect(await types(orders.mapBatches(Marks, rows))).toBe("id: BIGINT\nday: DATE\nk: SMALLINT\nmark: DOUBLE");
  });

  test("[A13] rows of groups keep them, too", async () => {
    const first = orders.groupBy("k").mapGroups((all) => all.slice(0, 1), { batchFormat: "rows" });
    expect(await types(first)).toBe("id: BIGINT\nday: DATE\nk: SMALLINT");
  });

  test("[A13] nulls of no type before a block with one say nothing", async () => {
    const nulls = s.range(2, { overrideNumBlocks: 1 }).select(sql<number | null>("NULL").as("n"));
    const numbers = s.range(2, { overrideNumBlocks: 1 }).select(sql<number>("id::INTEGER").as("n"));
    const both = nulls.union(numbers).mapBatches((all) => all.map((row) => ({ n: row.n })), rows);
    expect(await both.takeAll()).toEqual([{ n: null }, { n: null }, { n: 0 }, { n: 1 }]);
  });
});

test("[A12] an inherited call and one in a field keep types as a method does", async () => {
  const source = s.range(2).withColumn("day", sql<Date>("DATE '2020-02-29'"));
  class Field {
    readonly step = 1;
    call = (batch: { id: ArrayLike<number>; day: Date[] }) => ({
      ...batch,
      more: Array.from(batch.id, (id) => id + this.step),
    });
  }
  class Heir extends Field {}
  for (const fn of [Field, Heir]) {
    const mapped = source.mapBatches(fn);
    expect(String(await mapped.schema())).toBe("id: BIGINT\nday: DATE\nmore: DOUBLE");
    expect((await mapped.takeAll()).map((row) => row.more)).toEqual([1, 2]);
  }
});

test("[A12] a class function's call keeps types as a function does, as long as its source is what is called", async () => {
  const source = s
    .range(2)
    .withColumn("day", sql<Date>("DATE '2020-02-29'"))
    .withColumn("n", sql<number>("5::SMALLINT"));
  class Adds {
    readonly step: number;
    constructor(step: number) {
      this.step = step;
    }
    call(batch: { id: ArrayLike<number>; day: Date[]; n: ArrayLike<number> }) {
      return { ...batch, more: Array.from(batch.id, (id) => id + this.step) };
    }
  }
  const added = source.mapBatches(Adds, { constructorArgs: [1] });
  expect(String(await added.schema())).toBe("id: BIGINT\nday: DATE\nn: SMALLINT\nmore: DOUBLE");
  class Replaced {
    constructor() {
      Object.assign(this, { call: () => ({ day: ["no date"] }) });
    }
    call(batch: { day: Date[] }): { day: unknown[] } {
      return { day: batch.day };
    }
  }
  const replaced = source.mapBatches(Replaced);
  expect(await replaced.takeAll()).toEqual([{ day: "no date" }]);
  // As tsx and esbuild compile a class: its name is set when it is made.
  const name = (target: object, value: string) => Object.defineProperty(target, "name", { value, configurable: true });
  class Compiled {
    static readonly made = 1;
    static {
      // biome-ignore lint/complexity/noThisInStatic: as compilers write it
      name(this, "Compiled");
    }
    call(batch: { id: ArrayLike<number>; day: Date[] }) {
      return { id: batch.id, day: batch.day };
    }
  }
  expect(String(await source.mapBatches(Compiled).schema())).toBe("id: BIGINT\nday: DATE");
  class Static {
    static {
      Object.assign(Static.prototype, { call: () => ({ day: ["no date either"] }) });
    }
    call(batch: { day: Date[] }): { day: unknown[] } {
      return { day: batch.day };
    }
  }
  expect(await source.mapBatches(Static).takeAll()).toEqual([{ day: "no date either" }]);
});
