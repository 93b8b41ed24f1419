/**
 * Windows in real sessions: over files, over the rows of functions and with functions after them, in one kernel and by
 * partitions of an exchange. What each gives is compared with the kernel's own SQL over the same rows.
 */
import { join } from "node:path";
import {
  type AnyRow,
  col,
  count,
  type Dataset,
  denseRank,
  type Expr,
  ntile,
  rank,
  rowNumber,
  type Session,
  sql,
  when,
} from "spillway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("windows");
const wide = sessions.open();
const exchanging = sessions.open({ exchange: true });
const kernel = Kernel.open({ threads: 1 });
const reference = kernel.connect();
afterAll(() => {
  reference.close();
  kernel.close();
});

/** `id` tells rows apart, `k` has nulls, `f` has nulls and NaN, and `x` values that occur again. */
const rows = Array.from({ length: 400 }, (_, id) => ({
  id,
  k: id % 11 === 0 ? null : `k${id % 5}`,
  f: id % 7 === 0 ? null : id % 6 === 0 ? Number.NaN : (id % 4) / 2,
  x: id % 13 === 0 ? null : (id * 37) % 61,
  at: new Date(Date.UTC(2024, 0, 1 + (id % 50), id % 24)),
  over: id % 3,
}));
const schema = { id: "BIGINT", k: "VARCHAR", f: "DOUBLE", x: "INTEGER", at: "TIMESTAMP", over: "INTEGER" } as const;
const files = join(sessions.directory, "files");
beforeAll(async () => {
  await wide.fromItems(rows, { schema, overrideNumBlocks: 8 }).writeParquet(files);
  reference.execute(`CREATE TABLE t AS FROM read_parquet('${files}/*.parquet')`);
});

// biome-ignore lint/suspicious/noExplicitAny: any column of any type
type Window = Expr<unknown, any, any>;

const EXPRESSIONS: Readonly<Record<string, readonly [Window, string]>> = {
  "a total": [col("x").sum().over(), "sum(x) OVER ()"],
  "a share of it": [col("x").divide(col("x").sum().over({ partitionBy: "k" })), "x / sum(x) OVER (PARTITION BY k)"],
  "means by a key with nulls": [col("x").mean().over({ partitionBy: "k" }), "avg(x) OVER (PARTITION BY k)"],
  "counts by a key with NaN": [count().over({ partitionBy: "f" }), "count(*) OVER (PARTITION BY f)"],
  "by two keys": [
    col("x")
      .max()
      .over({ partitionBy: ["k", "f"] }),
    "max(x) OVER (PARTITION BY k, f)",
  ],
  "by a computed key": [
    col("x")
      .min()
      .over({ partitionBy: col("id").modulo(7) }),
    "min(x) OVER (PARTITION BY id % 7)",
  ],
  "a running total": [
    col("x").sum().over({ partitionBy: "k", orderBy: "id" }),
    "sum(x) OVER (PARTITION BY k ORDER BY id)",
  ],
  "a running total with equal keys": [
    col("id").sum().over({ orderBy: "x", descending: true, nulls: "first" }),
    "sum(id) OVER (ORDER BY x DESC NULLS FIRST)",
  ],
  "a moving mean": [
    col("x")
      .mean()
      .over({ partitionBy: "k", orderBy: "id", frame: { rows: [-2, 0] } }),
    "avg(x) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
  ],
  "a frame to the end": [
    col("x")
      .count()
      .over({ orderBy: "id", frame: { rows: [1, "unbounded"] } }),
    "count(x) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)",
  ],
  "a range of numbers": [
    col("id")
      .sum()
      .over({ partitionBy: "k", orderBy: "x", frame: { range: [-5, 2.5] } }),
    "sum(id) OVER (PARTITION BY k ORDER BY x ASC NULLS LAST RANGE BETWEEN 5 PRECEDING AND 2.5 FOLLOWING)",
  ],
  "a range of days": [
    col("x")
      .sum()
      .over({ orderBy: "at", frame: { range: [{ day: -6 }, 0] } }),
    'sum(x) OVER (ORDER BY "at" RANGE BETWEEN INTERVAL 6 DAY PRECEDING AND CURRENT ROW)',
  ],
  deviations: [col("x").std().over({ partitionBy: "over" }), "stddev_samp(x) OVER (PARTITION BY over)"],
  variances: [
    col("x").var().over({ partitionBy: "k", orderBy: "id" }),
    "var_samp(x) OVER (PARTITION BY k ORDER BY id)",
  ],
  medians: [col("x").median().over({ partitionBy: "k" }), "quantile_cont(x, 0.5) OVER (PARTITION BY k)"],
  "a moving quantile": [
    col("x")
      .quantile(0.25)
      .over({ orderBy: "id", frame: { rows: [-9, 0] } }),
    "quantile_cont(x, 0.25) OVER (ORDER BY id ROWS 9 PRECEDING)",
  ],
  "different values": [
    col("x").countDistinct().over({ partitionBy: "k", orderBy: "id" }),
    "count(DISTINCT x) OVER (PARTITION BY k ORDER BY id)",
  ],
  "lists in an order": [
    col("x")
      .list()
      .over({ partitionBy: "k", orderBy: "id", frame: { rows: [-1, 1] } }),
    "list(x) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
  ],
  "some rows only": [
    col("x").sum().where(col("over").eq(1)).over({ partitionBy: "k", orderBy: "id" }),
    "sum(x) FILTER (WHERE over = 1) OVER (PARTITION BY k ORDER BY id)",
  ],
  "row numbers": [rowNumber().over({ orderBy: "id", descending: true }), "row_number() OVER (ORDER BY id DESC)"],
  ranks: [rank().over({ partitionBy: "k", orderBy: "x" }), "rank() OVER (PARTITION BY k ORDER BY x NULLS LAST)"],
  "dense ranks": [
    denseRank().over({ partitionBy: "f", orderBy: ["x", "k"], descending: [true, false] }),
    "dense_rank() OVER (PARTITION BY f ORDER BY x DESC NULLS LAST, k NULLS LAST)",
  ],
  tiles: [ntile(4).over({ partitionBy: "k", orderBy: "id" }), "ntile(4) OVER (PARTITION BY k ORDER BY id)"],
  "the row before": [
    col("x").lag().over({ partitionBy: "k", orderBy: "id" }),
    "lag(x) OVER (PARTITION BY k ORDER BY id)",
  ],
  "the row after, or a value of another type": [
    col("x").lead(3, 0.5).over({ orderBy: "id" }),
    "lead(x::DOUBLE, 3, 0.5) OVER (ORDER BY id)",
  ],
  "the first": [
    col("x").first().over({ partitionBy: "k", orderBy: "id", descending: true }),
    "first_value(x) OVER (PARTITION BY k ORDER BY id DESC)",
  ],
  "the last": [
    col("x").last().over({ partitionBy: "k", orderBy: "id" }),
    "last_value(x) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
  ],
  "the last of a frame": [
    col("x")
      .last()
      .over({ orderBy: "id", frame: { rows: [-1, 1] } }),
    "last_value(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
  ],
  "two windows in one expression": [
    when(rank().over({ partitionBy: "k", orderBy: "id" }).eq(1)).then(col("x").sum().over({ partitionBy: "f" })),
    "CASE WHEN rank() OVER (PARTITION BY k ORDER BY id) = 1 THEN sum(x) OVER (PARTITION BY f) END",
  ],
  "raw SQL": [sql("sum(x) over ()"), "sum(x) OVER ()"],
  "raw SQL by a key": [
    sql("x - avg(x) /* over what */ OvEr (partition BY K order by id ROWS 3 preceding) -- over"),
    "x - avg(x) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)",
  ],
  "raw SQL that only looks like one": [
    sql(`'sum(x) over ()' || "over" || list_sum([x, 1])`),
    "'sum(x) over ()' || \"over\" || list_sum([x, 1])",
  ],
  "raw SQL with windows inside of a subquery": [
    sql("(SELECT max(r) FROM (SELECT row_number() OVER () AS r FROM unnest(range(x + 1))))"),
    "CASE WHEN x IS NOT NULL THEN x + 1 END",
  ],
};

type Any = Dataset<AnyRow>;
type Form = readonly [
  name: string,
  session: Session,
  eachAlone: boolean,
  first: (ds: Any) => Any,
  then: (ds: Any) => Any,
];
const same = (ds: Any) => ds;
const mapped = (ds: Any) => ds.map((row) => ({ ...row }));
const forms: readonly Form[] = [
  ["over files", wide, true, same, same],
  ["after a function", wide, false, mapped, same],
  ["before a function", wide, false, same, mapped],
  ["over files, exchanged", exchanging, false, same, same],
  ["between functions, exchanged", exchanging, true, mapped, mapped],
];

const byId = (found: readonly AnyRow[]) => found.toSorted((a, b) => Number(a.id) - Number(b.id));
function expectSame(found: readonly AnyRow[], wanted: readonly AnyRow[]): void {
  const shown = (all: readonly AnyRow[]) => all.map((row) => JSON.stringify(row, (_, value) => valueShown(value)));
  expect(shown(found)).toEqual(shown(wanted));
}
/** Sums of doubles go in any order. */
function valueShown(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  return Number.isNaN(value) ? "NaN" : Number(value.toPrecision(10));
}

describe.each(forms)("windows %s", (_, session, eachAlone, first, then) => {
  const source = () => first(session.readParquet(files, { overrideNumBlocks: 8 }));

  test.each(Object.entries(EXPRESSIONS).filter(() => eachAlone))("[A16] %s", async (_name, [expression, text]) => {
    const wanted = reference.all(`SELECT id, ${text} AS w FROM t ORDER BY id`);
    const found = byId(await then(source().withColumn("w", expression)).takeAll());
    expect(Object.keys(found[0] ?? {})).toEqual([...Object.keys(schema), "w"]);
    expectSame(
      found.map(({ id, w }) => ({ id, w })),
      wanted,
    );
  });

  test("[A16] all of them at once, in one select and column after column", async () => {
    const all = Object.values(EXPRESSIONS).map(([expression, text], i) => ({ name: `w${i}`, expression, text }));
    const list = all.map(({ name, text }) => `${text.replace(/ --.*/, "")} AS ${name}`).join(", ");
    const wanted = reference.all(`SELECT id, ${list} FROM t ORDER BY id`);
    const selected = source().select("id", ...all.map(({ name, expression }) => expression.as(name)));
    expectSame(byId(await then(selected).takeAll()), wanted);
    const some = all.filter((_each, i) => i % 3 === 0);
    const added = some.reduce((ds, { name, expression }) => ds.withColumn(name, expression), source());
    const names = ["id", ...some.map(({ name }) => name)];
    const picked = wanted.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
    expectSame(byId(await then(added.select(...names)).takeAll()), picked);
  });

  test("[A16] columns are replaced, filtered on, limited and united as any other", async () => {
    const running = col("x").sum().over({ partitionBy: "k", orderBy: "id" });
    const wanted = reference.all("SELECT id, sum(x) OVER (PARTITION BY k ORDER BY id) AS x FROM t ORDER BY id");
    const replaced = source().withColumn("x", running);
    expectSame(byId(await then(replaced.select("id", "x")).takeAll()), wanted);
    const some = await then(replaced.where(col("x").gt(900)).select("id", "x")).takeAll();
    expectSame(
      byId(some),
      wanted.filter(({ x }) => Number(x) > 900),
    );
    const early = await then(replaced.where(col("id").lt(100)).select("id", "x")).takeAll();
    expectSame(
      byId(early),
      wanted.filter(({ id }) => Number(id) < 100),
    );
    const ofKey = await then(replaced.where(col("k").eq("k3")).select("id", "x")).takeAll();
    expectSame(
      byId(ofKey),
      reference.all("SELECT id, sum(x) OVER (ORDER BY id) AS x FROM t WHERE k = 'k3' ORDER BY id"),
    );
    const limited = await then(replaced.limit(7).select("id", "x")).takeAll();
    expect(limited.length).toBe(7);
    for (const { id, x } of limited) expect(x).toBe(Number(wanted[Number(id)]?.x ?? Number.NaN) || x);
    const twice = await then(replaced.union(replaced).select("id", "x")).takeAll();
    expectSame(byId(twice), byId([...wanted, ...wanted]));
    expect(await then(replaced).count()).toBe(rows.length);
  });

  test("[A16] a window sees what is there: after a condition, a limit in an order, a sort, a group", async () => {
    const total = sql("sum(id) over ()");
    const even = await then(source().where(col("id").modulo(2).eq(0)).select(total.as("w"))).take(1);
    expect(even).toEqual([{ w: 200 * 199 }]);
    const first = await then(source().sort("id").limit(10).withColumn("w", total).select("w")).takeAll();
    expect(first).toEqual(Array.from({ length: 10 }, () => ({ w: 45 })));
    const groups = source().groupBy("over").agg({ n: count() }).withColumn("all", col("n").sum().over());
    expect((await then(groups).takeAll()).map(({ all }) => all)).toEqual([400, 400, 400]);
    const numbered = await then(
      source().sort("id", { descending: true }).withColumn("n", sql("row_number() OVER ()")),
    ).takeAll();
    expect(byId(numbered).map(({ n }) => n)).toEqual(rows.map(({ id }) => 400 - id));
  });

  test("[A16] conditions on windows, and topN", async () => {
    const first = rowNumber()
      .over({ partitionBy: "k", orderBy: ["x", "id"] })
      .le(2);
    const wanted = reference.all("FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY x, id) <= 2 ORDER BY id");
    const found = await then(source().where(first)).takeAll();
    expect(Object.keys(found[0] ?? {})).toEqual(Object.keys(schema));
    expectSame(byId(found), wanted);
    const raw = source().filter(sql("row_number() over (partition by k order by x, id) <= 2").and(col("id").lt(50)));
    expectSame(
      byId(await then(raw).takeAll()),
      wanted.filter(({ id }) => Number(id) < 50),
    );
    const top = source().topN(2, { by: ["x", "id"], partitionBy: "k" });
    expectSame(byId(await then(top).takeAll()), wanted);
    const dearest = source()
      .topN(3, { by: ["x", "id"], descending: true, nulls: "last" })
      .select("id");
    expectSame(
      await then(dearest).takeAll(),
      reference.all("SELECT id FROM t ORDER BY x DESC NULLS LAST, id DESC LIMIT 3"),
    );
    expect(await then(source().topN(0, { by: "x", partitionBy: "k" })).takeAll()).toEqual([]);
  });

  test("[A16] of no rows, of one, kept, and as a side of a join", async () => {
    const numbered = (ds: Any) => ds.withColumn("n", rowNumber().over({ partitionBy: "k", orderBy: "id" }));
    expect(await then(numbered(source().where(col("id").lt(0)))).takeAll()).toEqual([]);
    expect(await then(numbered(source().where(col("id").eq(3))).select("n")).takeAll()).toEqual([{ n: 1 }]);
    const kept = await then(numbered(source())).materialize();
    const wanted = reference.all("SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM t ORDER BY id");
    expectSame(byId(await kept.select("id", "n").takeAll()), wanted);
    const more = kept.withColumn("most", col("n").max().over({ partitionBy: "k" })).select("id", "most");
    const most = reference.all("SELECT id, count(*) OVER (PARTITION BY k) AS most FROM t ORDER BY id");
    expectSame(byId(await more.takeAll()), most);
    kept.dispose();
    const joined = source().select("id", "over").join(numbered(source()).select("id", "n"), { on: "id" });
    expectSame(byId(await then(joined.select("id", "n")).takeAll()), wanted);
  });
});

test("[A16] in a pipeline a window sees one window of it, and none before the cut", async () => {
  const read = () => wide.range(12, { overrideNumBlocks: 6 });
  for (const total of [col("id").sum().over(), sql<number>("sum(id) over ()")]) {
    const sums = await read().window({ blocks: 2 }).withColumn("w", total).select("w").takeAll();
    expect(sums.map(({ w }) => w)).toEqual([6, 6, 6, 6, 22, 22, 22, 22, 38, 38, 38, 38]);
    const cut = async () => read().withColumn("w", total).window({ blocks: 2 }).takeAll();
    await expect(cut()).rejects.toThrow("withColumn with an expression over other rows needs the whole dataset");
  }
  const best = await read()
    .window({ blocks: 3 })
    .topN(1, { by: "id", descending: true, partitionBy: col("id").modulo(2) });
  expect((await best.takeAll()).map(({ id }) => id).sort((a, b) => a - b)).toEqual([4, 5, 10, 11]);
});

test.each([false, true])("[A16] more rows than the store holds, exchange %s", async (exchange) => {
  const small = sessions.open({ exchange, objectStoreMemory: "12 MiB" });
  const many = small
    .range(300_000, { overrideNumBlocks: 12 })
    .withColumn("k", col("id").modulo(100))
    .map((row) => ({ ...row, pad: `${row.id}`.padStart(40) }));
  const numbered = many.withColumn("n", rowNumber().over({ partitionBy: "k", orderBy: "id" }));
  const sums = await numbered.withColumn("all", count().over()).agg({
    n: col("n").sum(),
    all: col("all").min(),
    right: count().where(col("n").eq(col("id").integerDivide(100).add(1))),
  });
  expect(sums).toEqual({ n: (100 * 3000 * 3001) / 2, all: 300_000, right: 300_000 });
});

test("[A16] explain shows what is over all rows", async () => {
  const text = await exchanging
    .readParquet(files)
    .withColumn("w", col("x").sum().over({ partitionBy: "k" }))
    .where(col("k").eq("k1"))
    .explain();
  expect(text).toContain('withColumn over all rows sum("x") OVER (PARTITION BY "k") AS "w"');
  expect(text).toMatch(/readParquet .*filter: \("k" = 'k1'\)/);
  expect(text).toMatch(/Stage 2 window: \d+ partitions, put together up to 128 MiB a task/);
});
