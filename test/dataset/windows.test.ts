/** Windows as they are written, and what is refused before anything runs. */
import { afterAll, describe, expect, test } from "vitest";
import {
  col,
  count,
  type Dataset,
  denseRank,
  type Expr,
  fromItems,
  lit,
  ntile,
  rank,
  rowNumber,
  sql,
} from "../../src/dataset/index.ts";
import { KernelError, OptionError, UnknownColumnError } from "../../src/errors/index.ts";
import { expressionSql } from "../../src/plan/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const engine = new InProcessEngine();
afterAll(() => engine.close());
const trips = fromItems(
  engine,
  [
    { id: 1, city: "Oslo", fare: 7.5, tags: ["a", "b"] },
    { id: 2, city: "Rome", fare: null, tags: [] },
  ],
  { schema: { id: "BIGINT", city: "VARCHAR", fare: "DOUBLE", tags: "VARCHAR[]" } },
);

const text = (expr: { readonly expression: Parameters<typeof expressionSql>[0] }) => expressionSql(expr.expression);
const refused = async (dataset: Dataset) => {
  const error: unknown = await dataset.takeAll().then(String, (reason: unknown) => reason);
  if (!(error instanceof OptionError)) throw new Error(`not refused: ${error}`);
  return error.message;
};

describe("[A16] topN of each partition", () => {
  test("[A16] below it may be a condition with two ends, of columns or of what is computed", async () => {
    const items = fromItems(
      engine,
      Array.from({ length: 40 }, (_, i) => ({ id: i, shop: `shop ${i % 4}` })),
    );
    for (const kept of [items.where(col("id").between(10, 19)), items.where(sql("id + 1 BETWEEN 11 AND 20"))]) {
      const top = await kept.topN(1, { by: "id", partitionBy: "shop" }).sort("id").takeAll();
      expect(top.map((row) => row.id)).toEqual([10, 11, 12, 13]);
    }
  });
});

describe("[A16] over", () => {
  test("[A16] says which rows, in which order, which of them", () => {
    expect(text(col("fare").sum().over())).toBe('sum("fare") OVER ()');
    expect(text(count().over({ partitionBy: ["city", col("id").modulo(2)] }))).toBe(
      'count(*) OVER (PARTITION BY "city", ("id" % 2))',
    );
    const spec = { orderBy: ["city", "id"], descending: [true, false], nulls: "first" } as const;
    expect(text(rank().over(spec))).toBe('rank() OVER (ORDER BY "city" DESC NULLS FIRST, "id" ASC NULLS FIRST)');
    const frames = [
      [{ rows: [-2, 0] }, "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"],
      [{ rows: ["unbounded", -1] }, "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"],
      [{ rows: [1, "unbounded"] }, "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"],
      [{ range: [-10, 2.5] }, "RANGE BETWEEN 10 PRECEDING AND CAST('2.5' AS DOUBLE) FOLLOWING"],
      [{ range: [{ day: -6 }, 0] }, "RANGE BETWEEN INTERVAL (6) day PRECEDING AND CURRENT ROW"],
      [
        { range: [{ month: -1 }, { hour: 2 }] },
        "RANGE BETWEEN INTERVAL (1) month PRECEDING AND INTERVAL (2) hour FOLLOWING",
      ],
    ] as const;
    for (const [frame, words] of frames) {
      expect(text(col("fare").mean().over({ orderBy: "id", frame }))).toBe(
        `avg("fare") OVER (ORDER BY "id" ASC NULLS LAST ${words})`,
      );
    }
    expect(text(col("id").lag(2, 0).over({ orderBy: "id" }))).toContain(
      'lag(CASE WHEN FALSE THEN 0 ELSE "id" END, 2, 0)',
    );
    expect(text(ntile(4).over({ orderBy: "id" }))).toBe('ntile(4) OVER (ORDER BY "id" ASC NULLS LAST)');
  });

  test("[A16] what has no meaning without an order is refused without one", () => {
    const none: never = undefined as never;
    for (const make of [
      () => rowNumber().over({ orderBy: none }),
      () => denseRank().over({ partitionBy: "city", orderBy: none }),
      () => col("id").lag().over({ orderBy: none }),
      () => col("id").lead().over({ orderBy: none }),
      () => col("id").last().over({ orderBy: none }),
      () => col("id").first().over({ partitionBy: "city" }),
      () => ntile(3).over({ orderBy: none }),
    ]) {
      expect(make).toThrow(/needs an order\. Give orderBy: "column"/);
    }
    expect(() =>
      col("id")
        .sum()
        .over({ frame: { rows: [-1, 0] } }),
    ).toThrow("a frame needs an order. Give orderBy, too");
    expect(() => col("id").sum().over({ descending: true })).toThrow("descending needs orderBy, which is missing");
  });

  test("[A16] options are checked where they are written", () => {
    const sum = col("id").sum();
    const wrong = (options: object) => () => sum.over(options as never);
    expect(wrong({ partitonBy: "city" })).toThrow(
      'sum().over: there is no option "partitonBy". Did you mean "partitionBy"?',
    );
    expect(wrong({ partitionBy: [] })).toThrow("partitionBy is an empty list");
    expect(wrong({ orderBy: 3 })).toThrow("orderBy has 3, which is neither a name nor an expression");
    expect(wrong({ orderBy: "id", descending: [true, false] })).toThrow("descending has 2 values for 1 keys");
    expect(wrong({ orderBy: "id", nulls: "lst" })).toThrow('Did you mean "last"?');
    const framed = (frame: unknown) => wrong({ orderBy: "id", frame });
    expect(framed([-1, 0])).toThrow("frame: options must be an object");
    expect(framed(7)).toThrow("frame is 7; it must be { rows: [-2, 0] } or { range: [-10, 0] }");
    expect(framed({ row: [-1, 0] })).toThrow('Did you mean "rows"?');
    expect(framed({ rows: [-1, 0], range: [-1, 0] })).toThrow("frame must have either rows or range; it has 2 of them");
    expect(framed({ rows: [-1] })).toThrow("it must be two bounds");
    expect(framed({ rows: [-1.5, 0] })).toThrow("a bound of rows is -1.5; it must be a whole number");
    expect(framed({ rows: [2, -2] })).toThrow("rows goes from 2 to -2; the first bound must not be after the second");
    expect(framed({ range: [Number.NaN, 0] })).toThrow("a bound of range is NaN");
    expect(framed({ range: [{ days: -1 }, 0] })).toThrow('"days" is not a unit of a range. Did you mean "day"?');
    expect(framed({ range: [{ day: -1, hour: 1 }, 0] })).toThrow("has 2 units of time; give one");
    expect(framed({ range: [{ day: 0.5 }, 0] })).toThrow("{ day } of a range is 0.5");
    expect(wrong({ orderBy: ["id", "city"], frame: { range: [-1, 0] } })).toThrow(
      "orderBy has 2. Use rows, or one key",
    );
    expect(() => rank().over({ orderBy: "id", frame: { rows: [0, 0] } as never })).toThrow("takes no frame");
    expect(() => col("id").lag(-1)).toThrow("lag: the number of rows is -1");
    expect(() => ntile(0)).toThrow("ntile: the number of parts is 0");
    expect(() => col("id").first().where(lit(true)).over({ orderBy: "id" })).toThrow("takes no condition");
    expect(() => trips.topN(-1, { by: "id" })).toThrow("topN: the number of rows is -1");
    expect(() => trips.topN(1, { by: [] })).toThrow("topN: name at least one key");
  });

  test("[A16] a function of windows is no expression before over", () => {
    const alone: never = rowNumber() as never;
    expect(() => trips.withColumn("n", alone)).toThrow("not rowNumber() without .over({ orderBy })");
    expect(() => trips.select("id", alone)).toThrow("rowNumber() without .over({ orderBy })");
    expect(() => col("id").add(alone)).toThrow("not rowNumber() without .over({ orderBy })");
  });
});

describe("[A16] what looks at many rows, where one is looked at", () => {
  const each = (expression: Expr<unknown, never, never>): readonly (readonly [string, Dataset])[] => [
    ["withColumn", trips.withColumn("w", expression)],
    ["select", trips.select("id", expression.as("w"))],
    ["filter", trips.where(expression)],
    ["sort", trips.sort(expression)],
    ["groupBy", trips.groupBy(expression.as("w")).count()],
  ];

  test("[A16] aggregates, also in raw SQL, hidden in what is SQL itself or in a subquery over nothing", async () => {
    const cases = [
      [col("fare").sum(), 'sum("fare") needs many rows'],
      [sql("fare / sum(fare)"), 'sql("fare / sum(fare)") has sum(…), which needs many rows'],
      [sql("row_number()"), "has row_number(…)"],
      [sql("count(*) > 1"), "has count_star(…)"],
      [sql("geomean(fare)"), "has geomean(…)"],
      [sql("(select max(fare)) + 1"), "has max(…)"],
      [sql("sum(sum(fare)) over ()"), "has sum(…)"],
    ] as const;
    for (const [expression, words] of cases) {
      for (const [operator, dataset] of each(expression as never)) {
        const message = await refused(dataset);
        if (!message.includes("looks at other rows")) expect(message).toContain(words);
        expect(message.startsWith(`${operator}: `)).toBe(true);
      }
    }
    expect(await refused(trips.withColumn("w", sql("sum(fare)")))).toContain(
      "For a value beside each row, give its rows: sum(…) OVER (…). Or compute it first, with groupBy(…).agg({ … })",
    );
  });

  test("[A16] aggregates in subqueries over columns from around them are of many rows, too", async () => {
    const texts = [
      "(select list(id) from (values (1)) v(q))",
      "(select max(q.id) from (select 1 as q2) as v)",
      "(select 1 from range(2) t(z) having sum(fare) > 3)",
      "(select z from range(3) t(z) order by max(fare + id) limit 1)",
      "exists (select 1 from unnest(tags) t(z) where z = min(city))",
      "(with c as (select 1 as z) select max(id) from c)",
      "(select max(w) from (select 2 as w union all select sum(id) from range(1)))",
      "(select sum(list_sum(list_transform([id], lambda x: x + 1))) from range(1))",
      "(select max((select id + z from range(1) u(z))) from range(1))",
      "(select sum(id) filter (where fare > 1) from (select * exclude (z) from (values (1, 2)) v(y, z)))",
    ];
    for (const each of texts)
      expect(await refused(trips.withColumn("w", sql(each)))).toContain("which needs many rows");
  });

  test("[A16] aggregates in subqueries over rows of their own are of one row", async () => {
    const texts = [
      ["(select max(v) from (select unnest(tags) as v))", "b", null],
      ["(select sum(id + z) from range(3) t(z))", 6, 9],
      ["(select count(*) from range(id))", 1, 2],
      ["(select sum(col0) + id from (values (1)))", 2, 3],
      ["(with c(z) as (select 5) select max(z + id) from c)", 6, 7],
      ["(select max((select z + id from (select 1))) from range(3) u(z))", 3, 4],
      ["(select sum(range) from (from range(4)))", 6, 6],
      ["(select max(t.z) from (select 1 as y) q join range(3) t(z) on true)", 2, 2],
      ["(select max(a) from (select unnest({ 'a': id })))", 1, 2],
      ["(select sum(list_reduce([1, 2], lambda a, b: a + b)) from range(2))", 6, 6],
    ] as const;
    for (const [each, first, second] of texts) {
      const rows = await trips.select("id", sql(each).as("w")).sort("id").takeAll();
      expect([each, ...rows.map(({ w }) => w)]).toEqual([each, first, second]);
    }
  });

  test("[A16] unnest, and more than one expression", async () => {
    for (const [, dataset] of each(sql("unnest(tags)") as never)) {
      expect(await refused(dataset)).toContain(
        "makes several rows of one row. Put the list into a column, and use explode",
      );
    }
    expect(await refused(trips.withColumn("w", sql("regexp_split_to_table(city, 's')")))).toContain(
      "several rows of one",
    );
    for (const odd of ["1), (2", "1), id FROM (SELECT 1"]) {
      expect(await refused(trips.withColumn("w", sql(odd)))).toContain("is more than one expression");
    }
    await expect(trips.withColumn("w", sql("1 +")).takeAll()).rejects.toBeInstanceOf(KernelError);
  });

  test("[A16] windows where no column is made: in keys, in aggregates, in windows", async () => {
    const before = [col("id").lag().over({ orderBy: "id" }), sql<number>("lag(id) OVER (ORDER BY id)")];
    for (const window of before) {
      for (const dataset of [
        trips.sort(window),
        trips.groupBy(window.as("w")).count(),
        trips.groupBy("city").agg({ n: window.max() }),
        trips.groupBy("city").agg({ n: count().where(window.gt(1)) }),
        trips.groupBy("city").agg({ n: window }),
      ]) {
        expect(await refused(dataset)).toContain(
          'looks at other rows. Put it into a column first, withColumn("name", …)',
        );
      }
      expect(await refused(trips.withColumn("w", window.sum().over()))).toContain("a window inside a window");
      expect(await refused(trips.withColumn("w", col("id").sum().over({ partitionBy: window })))).toContain(
        "inside a window",
      );
    }
    expect(await refused(trips.withColumn("w", col("id").sum().max().over()))).toContain("needs many rows");
    const twice = trips.groupBy("city").agg({ n: sql<number>("sum(id)").max() });
    expect(await refused(twice)).toContain("(sum(id)) is inside another aggregate");
    expect(await refused(trips.withColumn("w", col("city").sum().over()))).toContain(
      'withColumn: there is no sum of "city"',
    );
  });

  test("[A16] columns that are not there", async () => {
    for (const options of [{ partitionBy: "cty" }, { orderBy: "cty" }, { partitionBy: col("cty").upper() }]) {
      await expect(trips.withColumn("w", count().over(options as never)).takeAll()).rejects.toThrow(UnknownColumnError);
    }
    await expect(
      trips
        .where(
          count()
            .over({ partitionBy: "cty" } as never)
            .gt(1),
        )
        .takeAll(),
    ).rejects.toThrow("cty");
  });

  test("[A16] raw SQL over lists, in strings, comments and quotes is of one row", async () => {
    const texts = [
      "list_sum([1, 2])",
      "'sum(x) over ()'",
      "1 -- sum(fare)",
      "/* unnest(tags) */ 1",
      "list_aggr([3], 'sum')",
    ];
    for (const one of texts) expect((await trips.select(sql(one).as("w")).takeAll()).length).toBe(2);
    const quoted = fromItems(engine, [{ over: 1, sum: 2, "unnest(x)": 3 }]);
    const total = await quoted.select(sql('"over" + "sum" + "unnest(x)"').as("w")).takeAll();
    expect(total).toEqual([{ w: 6 }]);
  });

  test("[A16] raw SQL after a function may stand in a column whose name is a part of a word of it", async () => {
    const mapped = trips.map((row) => ({ id: row.id, city: row.city }));
    const rows = await mapped.withColumn("w", sql("lower(city) || 'w'")).takeAll();
    expect(rows).toEqual([
      { id: 1, city: "Oslo", w: "oslow" },
      { id: 2, city: "Rome", w: "romew" },
    ]);
  });

  test("[A16] texts are asked about once", async () => {
    const own = new InProcessEngine();
    const ds = fromItems(own, [{ id: 1 }]).withColumn("w", sql("id + 1"));
    await Promise.all([ds.takeAll(), ds.takeAll(), ds.withColumn("v", sql("id + 2")).takeAll()]);
    const asked = own.inspected.filter((query) => query.includes("json_serialize_sql"));
    expect(asked.length).toBe(2);
    own.close();
  });
});
