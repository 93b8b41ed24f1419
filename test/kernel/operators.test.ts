import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sliceBatch } from "../../src/arrow/index.ts";
import type { RecordBatch } from "../../src/arrow/types.ts";
import { type Connection, Kernel, type KernelTable } from "../../src/kernel/index.ts";
import { batchOf, bytes, collect, inNativeMemory, rowsOf, text, vector } from "./batches.ts";

const ROWS = 20_000;
const SOURCE = `
  SELECT i AS k, (i * 37 % 1000)::DOUBLE AS v, (i % 10)::INT AS g,
    CASE WHEN i % 11 = 0 THEN NULL ELSE 'name-of-row-' || i END AS s,
    CASE WHEN i % 13 = 0 THEN NULL ELSE range(i % 4) END AS l,
    {'a': i, 'b': 'x' || (i % 5)} AS st,
    DATE '2020-01-01' + (i % 365)::INT AS d,
    CASE WHEN i % 3 = 0 THEN NULL ELSE i % 2 = 0 END AS b
  FROM range(${ROWS}) t(i)`;

/** `T` is the table in one run and the block in the other. */
const QUERIES = [
  "SELECT count(*) AS n FROM T",
  "SELECT count(*) AS n FROM T WHERE v > 500",
  "SELECT count(*) AS n FROM T WHERE k < 10 AND g = 3",
  "SELECT count(s) AS n, count(l) AS m, count(b) AS o FROM T",
  "SELECT s, k FROM T WHERE k BETWEEN 5000 AND 5010 ORDER BY k",
  "SELECT k + 1 AS k1, upper(s) AS u, v * 2 AS w FROM T WHERE g = 7 ORDER BY k LIMIT 50",
  "SELECT * FROM T ORDER BY k LIMIT 3 OFFSET 4090",
  "SELECT g, sum(v) AS t, min(s) AS a, max(d) AS b, avg(v) AS m, count(*) AS n FROM T GROUP BY g ORDER BY g",
  "SELECT g, b, count(*) AS n FROM T GROUP BY GROUPING SETS ((g), (b), ()) ORDER BY ALL",
  "SELECT st.b AS b, count(*) AS n FROM T GROUP BY st.b HAVING count(*) > 5 ORDER BY b",
  "SELECT count(*) AS n FROM T x JOIN T y ON x.k = y.k WHERE x.v > 100",
  "SELECT x.k, y.s FROM T x LEFT JOIN (SELECT * FROM T WHERE g = 1) y ON x.k = y.k ORDER BY x.k LIMIT 30",
  "SELECT count(*) AS n FROM T x FULL JOIN (SELECT k + 19990 AS k FROM T) y USING (k)",
  "SELECT count(*) AS n FROM T x WHERE EXISTS (SELECT 1 FROM T y WHERE y.k = x.k + 1 AND y.g = 0)",
  "SELECT count(*) AS n FROM T WHERE k NOT IN (SELECT k FROM T WHERE g < 5)",
  "SELECT k FROM T WHERE v = (SELECT max(v) FROM T) ORDER BY k",
  "SELECT k, (SELECT max(y.k) FROM T y WHERE y.g = x.g AND y.k <= x.k) AS m FROM T x WHERE x.k < 40 ORDER BY k",
  "SELECT k, v FROM T ORDER BY v DESC, k LIMIT 10",
  "SELECT k FROM T ORDER BY s DESC NULLS LAST, k LIMIT 10",
  "SELECT DISTINCT g FROM T ORDER BY g",
  "SELECT DISTINCT ON (g) g, k FROM T ORDER BY g, k",
  "SELECT k, row_number() OVER (PARTITION BY g ORDER BY v, k) AS r, lag(k) OVER (ORDER BY k) AS p FROM T ORDER BY k LIMIT 100",
  "SELECT k, sum(v) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS t FROM T ORDER BY k LIMIT 50",
  "SELECT k FROM T WHERE k < 3 UNION ALL SELECT k FROM T WHERE k > 19997 ORDER BY k",
  "SELECT g FROM T UNION SELECT g + 5 FROM T ORDER BY 1",
  "SELECT k FROM T WHERE k < 10 EXCEPT SELECT k FROM T WHERE g = 3 ORDER BY 1",
  "SELECT k, unnest(l) AS u FROM T WHERE k < 40 ORDER BY ALL",
  "SELECT count(*) AS n FROM (SELECT unnest(l) AS u FROM T)",
  "SELECT k, unnest(st) FROM T WHERE k < 5 ORDER BY k",
  "SELECT count(*) AS n FROM T WHERE s LIKE '%99'",
  "SELECT count(*) AS n FROM T WHERE s LIKE 'name-of-row-1%' AND regexp_matches(s, '5$')",
  "SELECT count(*) AS n FROM T WHERE s IS NULL",
  "SELECT count(*) AS n FROM T WHERE b",
  "SELECT count(*) AS n FROM T WHERE NOT b OR b IS NULL",
  "SELECT list_filter(l, x -> x > 1) AS f FROM T WHERE k BETWEEN 100 AND 120 ORDER BY k",
  "SELECT sum(len(l)) AS n, sum(list_sum(l)) AS m FROM T",
  "SELECT st.a AS a, st.b AS b FROM T WHERE st.b = 'x3' ORDER BY a LIMIT 5",
  "SELECT st FROM T WHERE st IS NOT NULL ORDER BY k LIMIT 5",
  "SELECT month(d) AS m, count(*) AS n FROM T GROUP BY ALL ORDER BY ALL",
  "WITH c AS (SELECT g, v FROM T WHERE v > 10) SELECT a.g, count(*) AS n FROM c a JOIN c b ON a.g = b.g AND a.v = b.v GROUP BY a.g ORDER BY a.g",
  "WITH c AS MATERIALIZED (SELECT * FROM T) SELECT sum(k) AS t FROM c WHERE g IN (SELECT g FROM c WHERE k < 3)",
  "WITH RECURSIVE r AS (SELECT 0 AS k UNION ALL SELECT x.k + 1 FROM r JOIN T x ON x.k = r.k WHERE r.k < 50) SELECT count(*) AS n FROM r",
  "SELECT quantile_cont(v, 0.5) AS m, stddev(v) AS s, count(DISTINCT v) AS c FROM T",
  "SELECT g, list(k ORDER BY k)[:3] AS f, string_agg(s, ',' ORDER BY k)[:60] AS t FROM T GROUP BY g ORDER BY g",
  "FROM (PIVOT (SELECT g, b, k FROM T) ON g IN (1, 2, 3) USING sum(k) GROUP BY b) ORDER BY b",
  "SELECT x.k FROM T x ASOF JOIN (SELECT k * 3 AS k FROM T) y ON x.k >= y.k ORDER BY x.k LIMIT 10",
  "SELECT k FROM T x, LATERAL (SELECT max(y.k) AS m FROM T y WHERE y.g = x.g) z WHERE x.k = z.m ORDER BY k",
  "SELECT count(*) AS n FROM T x, (SELECT DISTINCT g FROM T) y WHERE x.g < y.g",
  "SELECT count(*) AS n FROM (SELECT * FROM T LIMIT 5000 OFFSET 100)",
  "SELECT max(k) AS m FROM (SELECT * FROM T USING SAMPLE 100% (bernoulli))",
  "SELECT 1 AS one FROM T LIMIT 3",
  "SELECT * FROM (SUMMARIZE SELECT k, v, g FROM T)",
];

describe("[A7] every operator over a block gives what it gives over a table", () => {
  let kernel: Kernel;
  let connection: Connection;
  let whole: RecordBatch;
  const tables: (readonly [string, KernelTable])[] = [];

  beforeAll(() => {
    kernel = Kernel.open({ threads: 1 });
    connection = kernel.connect();
    connection.execute(`CREATE TABLE reference AS ${SOURCE}`);
    whole = collect(connection, "FROM reference ORDER BY k");
    const empty = sliceBatch(whole, 0, 0);
    const cuts = [0, 1, 8, 2048, 2049, 10_000, 14_097, ROWS];
    const pieces = cuts.slice(1).map((end, index) => sliceBatch(whole, cuts[index] ?? 0, end));
    tables.push(["one batch", connection.table([inNativeMemory(whole).batch])]);
    tables.push(["many batches, empty ones between", connection.table([empty, ...pieces.flatMap((p) => [p, empty])])]);
  });
  afterAll(() => kernel.close());

  it.each(QUERIES)("%s", (query) => {
    const want = rowsOf(connection, query.replaceAll(/\bT\b/g, "reference"));
    expect(want.length).toBeGreaterThan(0);
    for (const [name, table] of tables) {
      expect(rowsOf(connection, query.replaceAll(/\bT\b/g, table.sql)), name).toEqual(want);
    }
  });

  it.each(QUERIES)("with two threads: %s", async (query) => {
    const parallel = Kernel.open({ threads: 2 });
    try {
      const other = parallel.connect();
      const want = rowsOf(connection, query.replaceAll(/\bT\b/g, "reference"));
      const table = other.table([sliceBatch(whole, 0, 3000), sliceBatch(whole, 3000, ROWS)]);
      await other.executeAsync(`CREATE TABLE result AS ${query.replaceAll(/\bT\b/g, table.sql)}`);
      table.release();
      // Sums of doubles depend on the order of the rows, which two threads do not keep.
      expect(other.all("SELECT count(*) AS n FROM result")).toEqual([{ n: want.length }]);
      if (!/avg|stddev|SUMMARIZE|SAMPLE|sum\(v\)/.test(query) && /ORDER BY/.test(query)) {
        expect(rowsOf(other, "FROM result")).toEqual(want);
      }
    } finally {
      parallel.close();
    }
  });

  it("columns that no query asks for are not even looked at", () => {
    const damaged = vector({ kind: "float", bits: 64 }, 3, null, [new Uint8Array(1)]);
    const good = vector({ kind: "float", bits: 64 }, 3, null, [bytes(Float64Array.of(1, 2, 3))]);
    const table = connection.table([batchOf({ good, damaged })]);
    expect(connection.all(`SELECT sum(good) AS t FROM ${table.sql}`)).toEqual([{ t: 6 }]);
    expect(connection.all(`SELECT count(*) AS n FROM ${table.sql}`)).toEqual([{ n: 3 }]);
    expect(() => connection.all(`SELECT damaged FROM ${table.sql}`)).toThrow(/needs 24 bytes/);
    table.release();
  });

  it("a table of no batches, by its schema alone, and one of a column without a name that SQL likes", () => {
    const schema = { fields: [{ name: 'a "b" c', type: { kind: "utf8", large: false }, nullable: true }] } as const;
    const none = connection.table([], schema);
    expect(connection.all(`SELECT count(*) AS n, max("a ""b"" c") AS m FROM ${none.sql}`)).toEqual([{ n: 0, m: null }]);
    expect(connection.describe(`FROM ${none.sql}`)).toEqual(schema);
    expect(() => connection.table([])).toThrow(/needs its schema/);
    none.release();
  });

  it("columns of one name, which SQL could not tell apart, are an error that names it", () => {
    const [a, b] = [text(["x"]), text(["y"])];
    const table = connection.table([batchOf({ c: a, C: b })]);
    expect(() => connection.all(`SELECT c FROM ${table.sql}`)).toThrow(/duplicate column name "C"/);
    table.release();
  });

  it("a view over a block lasts as long as the block", () => {
    const table = connection.table([whole]);
    connection.execute(`CREATE VIEW seen AS SELECT k FROM ${table.sql} WHERE k < 5`);
    expect(connection.all("SELECT count(*) AS n FROM seen")).toEqual([{ n: 5 }]);
    table.release();
    expect(() => connection.all("FROM seen")).toThrow(/There is no block/);
    connection.execute("DROP VIEW seen");
  });

  it("[A7] random data, random conditions", () => {
    const cell = fc.option(fc.integer({ min: -20, max: 20 }), { nil: null });
    const row = fc.tuple(
      cell,
      fc.option(fc.string({ maxLength: 15 }), { nil: null }),
      fc.option(fc.boolean(), { nil: null }),
    );
    const condition = fc.constantFrom(
      "a > 3",
      "a IS NULL",
      "s LIKE '%a%'",
      "b",
      "NOT b",
      "a % 2 = 0 AND length(s) > 4",
      "s < 'm'",
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), condition, fc.nat(59), (rows, where, cut) => {
        const valid = (index: 0 | 1 | 2) => rows.map((values) => values[index] !== null);
        const numbers = Int32Array.from(rows, ([a]) => a ?? 12345);
        const flags = new Uint8Array((rows.length + 7) >>> 3);
        for (const [at, [, , flag]] of rows.entries())
          if (flag) flags[at >>> 3] = (flags[at >>> 3] ?? 0) | (1 << (at & 7));
        const batch = batchOf({
          a: vector({ kind: "int", bits: 32, signed: true }, rows.length, valid(0), [bytes(numbers)]),
          s: text(rows.map(([, s]) => s)),
          b: vector({ kind: "bool" }, rows.length, valid(2), [flags]),
        });
        const table = connection.table([sliceBatch(batch, 0, cut), sliceBatch(batch, cut, rows.length)]);
        connection.execute(`CREATE OR REPLACE TABLE random AS FROM ${table.sql}`);
        for (const query of [
          `SELECT * FROM T WHERE ${where}`,
          `SELECT a, count(*) AS n, max(s) AS m FROM T WHERE ${where} GROUP BY a ORDER BY a`,
          `SELECT count(*) AS n FROM (SELECT * FROM T WHERE ${where}) x JOIN T y ON x.a = y.a AND x.b = y.b`,
          "SELECT DISTINCT s FROM T ORDER BY s",
        ]) {
          expect(rowsOf(connection, query.replaceAll(/\bT\b/g, table.sql))).toEqual(
            rowsOf(connection, query.replaceAll(/\bT\b/g, "random")),
          );
        }
        expect(rowsOf(connection, `FROM ${table.sql}`)).toEqual(rows.map(([a, s, b]) => ({ a, s, b })));
        table.release();
      }),
      { numRuns: 80 },
    );
  });
});
