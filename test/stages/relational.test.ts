/**
 * Relational plans end to end without processes: every operator over files, over what functions made and over blocks,
 * in one wide task and as an exchange, against the kernel's own answer to the same question over the same files.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { col, count, type Dataset, fromItems, range, readParquet, sql } from "../../src/dataset/index.ts";
import { InProcessEngine } from "../dataset/in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-relational-"));
const engines = {
  "one wide task": new InProcessEngine(),
  "an exchange": new InProcessEngine({ exchange: true, capacity: 1 }),
  "an exchange that broadcasts": new InProcessEngine({ exchange: true }),
};
const file = (name: string) => join(folder, `${name}.parquet`);
const reference = new InProcessEngine();

beforeAll(() => {
  const make = (name: string, query: string) =>
    reference.connection.execute(`COPY (${query}) TO '${file(name)}' (ROW_GROUP_SIZE 2048)`);
  // Half of the rows have one key, some have none; `"a ""b` needs quoting wherever it stands.
  make(
    "orders",
    `SELECT i AS id, CASE WHEN i % 2 = 0 THEN 7 WHEN i % 11 = 0 THEN NULL ELSE hash(i) % 60 END::INTEGER AS k,
      (hash(i, 1) % 1000)::BIGINT AS v, CASE WHEN i % 5 = 0 THEN NULL ELSE 's' || (hash(i, 2) % 20) END AS s,
      (hash(i, 3) % 7)::DOUBLE / 3 AS "a ""b" FROM range(5000) t(i)`,
  );
  make(
    "customers",
    `SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE i END::BIGINT AS k, 'n' || i AS name, (i % 3)::DOUBLE AS "a ""b" FROM range(40) t(i)`,
  );
  make(
    "empty",
    `SELECT 1::BIGINT AS id, 1::INTEGER AS k, 1::BIGINT AS v, 's' AS s, 1.5::DOUBLE AS "a ""b" WHERE false`,
  );
});
afterAll(() => {
  for (const engine of [...Object.values(engines), reference]) engine.close();
  rmSync(folder, { recursive: true, force: true });
});

type Row = Record<string, unknown>;
type Rows = Dataset<{ id: number; k: number | null; v: number; s: string | null; 'a "b': number }>;
type Customers = Dataset<{ k: number | null; name: string; 'a "b': number }>;

const text = (rows: readonly Row[]) =>
  rows.map((row) =>
    JSON.stringify(row, (_, value) => (typeof value === "number" ? Number(value.toPrecision(9)) : value)),
  );
const answer = (query: string): Row[] =>
  reference.connection.all(query.replace(/\$(\w+)/g, (_, name: string) => `read_parquet('${file(name)}')`));

async function same(ds: Dataset<Row>, query: string): Promise<void> {
  expect(text(await ds.takeAll()).sort()).toEqual(text(answer(query)).sort());
}
async function sameOrder(ds: Dataset<Row>, query: string): Promise<void> {
  expect(text(await ds.takeAll())).toEqual(text(answer(query)));
}

for (const [mode, engine] of Object.entries(engines)) {
  const read = (name: string) => readParquet(engine, file(name)) as unknown as Rows;
  const inputs: Readonly<Record<string, (name: string) => Rows>> = {
    files: read,
    "a function": (name) => read(name).map((row) => ({ ...row })) as unknown as Rows,
    "a condition after a function": (name) =>
      read(name)
        .map((row) => ({ ...row }))
        .filter(col('a "b').ge(0)) as unknown as Rows,
  };
  for (const [over, from] of Object.entries(inputs)) {
    describe(`${mode} over ${over}`, () => {
      const customers = () => from("customers") as unknown as Customers;

      test("[A8] groups and aggregates", async () => {
        const items = {
          n: count(),
          total: col("v").sum(),
          mean: col("v").mean(),
          low: col("v").min(),
          high: col("s").max(),
          spread: col("v").std(),
          different: col("s").countDistinct(),
          median: col("v").median(),
          far: col('a "b').sum().add(col("v").max()),
        };
        const wanted = `count(*) AS n, sum(v)::BIGINT AS total, avg(v) AS mean, min(v) AS low, max(s) AS high, stddev_samp(v) AS spread, count(DISTINCT s) AS different, quantile_cont(v, 0.5) AS median, sum("a ""b") + max(v) AS far`;
        await same(from("orders").groupBy("k").agg(items), `SELECT k, ${wanted} FROM $orders GROUP BY k`);
        await same(
          from("orders").groupBy("k", "s").agg({ n: count() }),
          "SELECT k, s, count(*) AS n FROM $orders GROUP BY k, s",
        );
        await same(
          from("orders")
            .groupBy("id")
            .agg({ total: col("v").sum() }),
          "SELECT id, sum(v)::BIGINT AS total FROM $orders GROUP BY id",
        );
        await same(
          from("orders")
            .groupBy("k")
            .agg({ ids: col("id").list(), n: count() })
            .select("k", sql("list_sort(ids)").as("ids"), "n"),
          "SELECT k, list(id ORDER BY id) AS ids, count(*) AS n FROM $orders GROUP BY k",
        );
        await same(from("orders").distinct("k", "s").select("k", "s"), "SELECT DISTINCT k, s FROM $orders");
        await same(from("orders").select("k", "s").distinct(), "SELECT DISTINCT k, s FROM $orders");
      });

      test("[A9] joins of every kind", async () => {
        const list = `o.id, o.k, o.v, o.s, o."a ""b", c.name, c."a ""b" AS "a ""b_right"`;
        for (const how of ["inner", "left", "right", "full"] as const) {
          const joined = from("orders").join(customers(), { on: "k", how }) as unknown as Dataset<Row>;
          const key = how === "right" || how === "full" ? list.replace("o.k", "coalesce(o.k, c.k) AS k") : list;
          await same(joined, `SELECT ${key} FROM $orders o ${how} JOIN $customers c ON o.k = c.k`);
        }
        for (const how of ["semi", "anti"] as const) {
          await same(
            from("orders").join(customers(), { on: "k", how }) as unknown as Dataset<Row>,
            `SELECT o.* FROM $orders o ${how} JOIN $customers c ON o.k = c.k`,
          );
        }
        const few = from("orders").filter(col("id").lt(20)).select("id");
        await same(
          few.join(customers().select("name"), { how: "cross" }) as unknown as Dataset<Row>,
          "SELECT o.id, c.name FROM (FROM $orders WHERE id < 20) o, $customers c",
        );
        await same(
          from("orders").select("id", "v").join(customers().select("k", "name"), {
            leftOn: "v",
            rightOn: "k",
            how: "left",
          }) as unknown as Dataset<Row>,
          "SELECT o.id, o.v, c.name FROM $orders o LEFT JOIN $customers c ON o.v = c.k",
        );
      });

      test("[A9] a right column whose name the left has is called by the suffix", async () => {
        const rows = (name: string) => from(name).filter(col("id").lt(60)) as unknown as Dataset<Row>;
        const some = "(FROM $orders WHERE id < 60)";
        const other = "SELECT id, v, s";
        const few = rows("orders").select("id", "v", "s");
        for (const how of ["inner", "left", "right", "full"] as const) {
          const twice = rows("orders").join(few.join(few, { on: "id", how }), {
            leftOn: ["k"],
            rightOn: ["id"],
            how,
            suffix: ".b",
          });
          const merged = how === "right" || how === "full";
          const key = (a: string, b: string) => (merged ? `coalesce(${a}, ${b})` : a);
          await same(
            twice,
            `SELECT l.id, ${key("l.k", "r.id")} AS k, l.v, l.s, l."a ""b", r.v AS "v.b", r.s AS "s.b", r.v_right, r.s_right FROM ${some} l
              ${how} JOIN (SELECT ${key("l.id", "r.id")} AS id, l.v, l.s, r.v AS v_right, r.s AS s_right
                FROM (${other} FROM ${some}) l ${how} JOIN (${other} FROM ${some}) r ON l.id = r.id) r ON l.k = r.id`,
          );
        }
        await same(
          few
            .join(few, { how: "cross", suffix: "2" })
            .where(col("v2").lt(col("v")))
            .select("id2", "s2"),
          `SELECT r.id AS id2, r.s AS s2 FROM ${some} l, ${some} r WHERE r.v < l.v`,
        );
        await same(
          few.join(few.drop("s"), { on: "id", how: "left" }).join(few, { on: "id", how: "semi" }).sort("v_right"),
          `SELECT id, v, s, v AS v_right FROM ${some}`,
        );
        const zipped = few.sort("id").zip(few.sort("id"));
        await sameOrder(
          zipped.zip(few.sort("id"), { suffix: "3" }),
          `SELECT id, v, s, id AS id_right, v AS v_right,
          s AS s_right, id AS id3, v AS v3, s AS s3 FROM ${some} ORDER BY id`,
        );
        await same(
          few
            .join(few, { on: "id" })
            .union(few.join(few, { on: "id" }))
            .distinct(),
          `SELECT id, v, s, v AS v_right, s AS s_right FROM ${some}`,
        );
        await same(
          few.join(few, { on: "id" }).groupBy("s_right").agg({ n: count() }),
          `SELECT s AS s_right, count(*) AS n FROM ${some} GROUP BY s`,
        );
        await same(
          few.join(rows("empty"), { on: "id", how: "left" }).select("id", "v_right"),
          `SELECT id, NULL AS v_right FROM ${some}`,
        );
        const clash = few.join(few, { on: "id" }).join(few, { on: "id" }).takeAll();
        await expect(clash).rejects.toThrow('join: two columns would be called "v_right". Give another suffix');
      });

      test("[A9] sorts by several keys, descending, with nulls first and last", async () => {
        await sameOrder(
          from("orders").sort(["s", "k", "id"], { descending: [true, false, false], nulls: "first" }),
          "SELECT * FROM $orders ORDER BY s DESC NULLS FIRST, k NULLS FIRST, id",
        );
        await sameOrder(
          from("orders").sort(["k", "id"], { descending: true }),
          "SELECT * FROM $orders ORDER BY k DESC NULLS LAST, id DESC",
        );
        await sameOrder(
          from("orders").sort(["v", "id"]).limit(17).select("id"),
          "SELECT id FROM (SELECT * FROM $orders ORDER BY v, id LIMIT 17)",
        );
        await sameOrder(
          from("orders").sort(col("id").multiply(-1)).offset(10).limit(5).filter(col("id").ne(4987)).select("id"),
          "SELECT id FROM (SELECT * FROM $orders ORDER BY -id LIMIT 5 OFFSET 10) WHERE id <> 4987",
        );
        const rows = await from("orders")
          .sort("s")
          .map((row) => ({ id: row.id, s: row.s }))
          .takeAll();
        expect(rows.map(({ s }) => s)).toEqual(answer("SELECT s FROM $orders ORDER BY s NULLS LAST").map(({ s }) => s));
      });

      test("[A8] after a sort groups have a first row, and lists and groups of rows their order", async () => {
        const sorted = () => from("orders").sort("id", { descending: true });
        await same(
          sorted()
            .groupBy("k")
            .agg({ last: col("id").first(), ids: col("id").list(), n: count() }),
          "SELECT k, max(id) AS last, list(id ORDER BY id DESC) AS ids, count(*) AS n FROM $orders GROUP BY k",
        );
        const groups = sorted()
          .groupBy("k")
          .mapGroups((rows) => [{ k: rows[0]?.k ?? null, ids: rows.map(({ id }) => id).join() }], {
            batchFormat: "rows",
          });
        await same(groups, "SELECT k, string_agg(id, ',' ORDER BY id DESC) AS ids FROM $orders GROUP BY k");
      });

      test("[A9] randomShuffle keeps every row and follows its seed", async () => {
        const order = async (seed: number) =>
          (await from("orders").randomShuffle({ seed }).takeAll()).map(({ id }) => id);
        const [one, again, other] = [await order(1), await order(1), await order(2)];
        expect(again).toEqual(one);
        expect(other).not.toEqual(one);
        expect([...one].sort((a, b) => a - b)).toEqual(Array.from({ length: 5000 }, (_, i) => i));
        // A shuffle that leaves neighbours together is none.
        expect(one.filter((id, i) => i > 0 && Math.abs(id - (one[i - 1] ?? 0)) === 1).length).toBeLessThan(20);
      });

      test("[A6] zip by place, and an error where one has more rows", async () => {
        const right = from("orders")
          .select("id", "v")
          .rename({ id: "other", v: "w" } as never);
        await same(
          from("orders")
            .select("id")
            .zip(right as never) as unknown as Dataset<Row>,
          "SELECT id, id AS other, v AS w FROM $orders",
        );
        const longer = from("orders")
          .select("id")
          .zip(customers().select("name") as never)
          .takeAll();
        await expect(longer).rejects.toThrow("zip: the left dataset has more rows than the other");
      });

      test("[A6] unions, limits and samples around them", async () => {
        const twice = from("orders").select("k", "v").union(from("orders").select("k", "v"));
        await same(
          twice.groupBy("k").agg({ n: count() }).filter(col("n").gt(100)),
          "SELECT k, 2 * count(*) AS n FROM $orders GROUP BY k HAVING 2 * count(*) > 100",
        );
        const first = await from("orders").limit(100).groupBy("k").agg({ n: count() }).takeAll();
        expect(text(first).sort()).toEqual(
          text(answer("SELECT k, count(*) AS n FROM $orders WHERE id < 100 GROUP BY k")).sort(),
        );
        const sampled = await from("orders").sort("id").sample({ rows: 10, seed: 1 }).takeAll();
        expect(new Set(sampled.map(({ id }) => id)).size).toBe(10);
        expect(Object.keys(sampled[0] ?? {})).toEqual(["id", "k", "v", "s", 'a "b']);
      });

      test("[A8] mapGroups sees every group once and whole", async () => {
        const groups = from("orders")
          .groupBy("k")
          .mapGroups(
            (rows) => [{ k: rows[0]?.k ?? null, n: rows.length, total: rows.reduce((sum, row) => sum + row.v, 0) }],
            {
              batchFormat: "rows",
            },
          );
        await same(groups, "SELECT k, count(*) AS n, sum(v)::BIGINT AS total FROM $orders GROUP BY k");
        const big = await groups.filter(col("n").gt(1000)).takeAll();
        expect(big.map(({ k }) => k)).toEqual([7]);
      });

      test("[A9] repartitions keep the rows, in order but for keys", async () => {
        const ids = answer("SELECT id FROM $orders ORDER BY id").map(({ id }) => id);
        for (const into of [3, { targetRows: 700 }, { targetBytes: "1 MiB" }] as const) {
          const rows = await from("orders").repartition(into).takeAll();
          expect(rows.map(({ id }) => id)).toEqual(ids);
        }
        await same(from("orders").repartition({ keys: "k", count: 5 }), "SELECT * FROM $orders");
      });

      test("[A8] [A9] no rows at all", async () => {
        const none = () => from("empty");
        expect(await none().sort(["k", "s"]).takeAll()).toEqual([]);
        expect(
          await none()
            .groupBy("k")
            .agg({ n: count(), m: col("v").median(), l: col("s").list() })
            .takeAll(),
        ).toEqual([]);
        expect(await none().distinct("k").takeAll()).toEqual([]);
        expect(await none().randomShuffle({ seed: 1 }).takeAll()).toEqual([]);
        expect(await none().repartition(3).takeAll()).toEqual([]);
        expect(await none().join(customers(), { on: "k" }).takeAll()).toEqual([]);
        const kept = await customers().join(none(), { on: "k", how: "left" }).takeAll();
        expect(kept.length).toBe(40);
        expect(new Set(kept.map(({ name }) => name)).size).toBe(40);
        if (over === "files") expect(kept[0]).toMatchObject({ v: null });
        expect(await none().join(customers(), { on: "k", how: "full" }).count()).toBe(40);
        expect(await none().zip(none()).takeAll()).toEqual([]);
        expect(await none().sum("v")).toBeNull();
      });
    });
  }

  test(`[A6] ${mode}: a thousand withColumns below a sort`, async () => {
    let wide: Dataset<Row> = range(engine, 10) as unknown as Dataset<Row>;
    for (let i = 0; i < 1000; i++)
      wide = wide.withColumn(`c${i % 50}`, i < 50 ? col("id") : col(`c${i % 50}`).add(1)) as Dataset<Row>;
    const rows = await wide.sort(col("c49").multiply(-1)).select("id", "c49").takeAll();
    expect(rows[0]).toEqual({ id: 9, c49: 28 });
  });

  test(`[A9] ${mode}: blocks that the program holds`, async () => {
    const people = fromItems(engine, [
      { name: "Ann", city: "Oslo" },
      { name: "Bob", city: "Rome" },
      { name: "Cid", city: null },
      { name: "Dee", city: "Oslo" },
    ]);
    const rows = await people
      .groupBy("city")
      .agg({ n: count(), names: col("name").list() })
      .sort("city")
      .takeAll();
    expect(rows.map(({ city, n }) => [city, n])).toEqual([
      ["Oslo", 2],
      ["Rome", 1],
      [null, 1],
    ]);
  });
}
