/**
 * What stands after a function, whose columns are known only when it runs: names that are not there, sides without
 * rows, figures.
 */
import { join } from "node:path";
import { col, type Dataset, RowShapeError, sql, UnknownColumnError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("after-functions");
const s = sessions.open({ workers: 2 });
const exchanging = sessions.open({ workers: 2, exchange: true });
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);
type Any = Dataset<Record<string, unknown>>;
const made = (): Any => s.range(4).map((row) => ({ id: row.id, list: [row.id], maybe: row.id % 2 === 1 ? null : 1 }));

describe("a column that is not there", () => {
  const operators: Readonly<Record<string, (ds: Any) => Any>> = {
    rename: (ds) => ds.rename({ nope: "other" }),
    select: (ds) => ds.select("nope"),
    drop: (ds) => ds.drop("nope"),
    withColumn: (ds) => ds.withColumn("made", col("nope").add(1)),
    filter: (ds) => ds.filter(col("nope").gt(1)),
    sort: (ds) => ds.sort("nope"),
    groupBy: (ds) => ds.groupBy("nope").count(),
    agg: (ds) => ds.groupBy("id").agg({ most: col("nope").max() }),
    mapGroups: (ds) => ds.groupBy("nope").mapGroups(() => ({ n: [1] })),
    join: (ds) => ds.join(s.range(2), { leftOn: "nope", rightOn: "id" }),
    fillNull: (ds) => ds.fillNull({ nope: 1 }),
    dropNull: (ds) => ds.dropNull(["nope"]),
    explode: (ds) => ds.explode("nope"),
    distinct: (ds) => ds.distinct("nope"),
  };
  for (const [name, apply] of Object.entries(operators)) {
    test(`[A6] ${name} of an unknown column after a function names it and the columns there are`, async () => {
      const error = await apply(made())
        .takeAll()
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UnknownColumnError);
      expect(String(error)).toContain('there is no column "nope"');
      if (error instanceof UnknownColumnError)
        expect(error.available).toEqual(expect.arrayContaining(["list", "maybe"]));
    });
  }

  test("[A6] rename after a function refuses a name that another column has", async () => {
    await expect(made().rename({ id: "maybe" }).takeAll()).rejects.toThrow(RowShapeError);
    await expect(made().rename({ id: "maybe" }).takeAll()).rejects.toThrow('two columns would be called "maybe"');
    expect(await made().rename({ id: "maybe", maybe: "id" }).select("maybe").take(2)).toEqual([
      { maybe: 0 },
      { maybe: 1 },
    ]);
    expect(await made().dropNull().rename({ id: "n" }).select("n").takeAll()).toEqual([{ n: 0 }, { n: 2 }]);
  });

  test("[A9] partitionBy of an unknown column after a function names the columns there are", async () => {
    const written = made().writeParquet(join(sessions.directory, "nope"), { partitionBy: ["nope"] });
    await expect(written).rejects.toThrow(UnknownColumnError);
    await expect(made().writeJson(join(sessions.directory, "nope"), { partitionBy: ["nope"] })).rejects.toThrow(
      /no column "nope".*list/,
    );
  });

  test("[A7] an unknown column in SQL: all the columns there are, and not only those that the kernel thought of", async () => {
    const ds = s.range(1).map(() => ({ alpha: 1, beta: 2 }));
    await expect(ds.withColumn("x", sql("nope + 1")).takeAll()).rejects.toThrow(
      /no column "nope".* Columns here: alpha, beta/,
    );
  });
});

describe("columns that only running tells", () => {
  const more = s.range(2).map((row) => ({ id: row.id, z: 1 }));

  test("[A6] a union of different columns is refused, whichever side has more and whoever reads", async () => {
    const fewer = s.range(2).map((row) => ({ id: row.id }));
    for (const ds of [more.union(fewer as never), fewer.union(more), more.union(s.range(2) as never)]) {
      await expect(ds.takeAll()).rejects.toThrow(RowShapeError);
      await expect(ds.takeAll()).rejects.toThrow(/union: the columns differ: "z" is in rows of .*map/);
      await expect(ds.writeParquet(fresh())).rejects.toThrow(/"z"/);
    }
  });

  test("[A2] a column that a function says it reads and does not get is refused", async () => {
    const columns = ["idd"];
    for (const ds of [
      more.map((row) => row, { columns }),
      more.filter(() => true, { columns }),
      more.flatMap((row) => [row], { columns }),
      more.mapBatches((batch) => batch, { columns }),
      more.withColumn("y", sql("z + 1")).map((row) => row, { columns }),
    ]) {
      await expect(ds.takeAll()).rejects.toThrow(UnknownColumnError);
      await expect(ds.takeAll()).rejects.toThrow(/there is no column "idd". Did you mean "id"/);
    }
    expect(await more.map((row) => row, { columns: ["id"] }).count()).toBe(2);
  });

  test("[A6] a union of the same columns in another order is by name", async () => {
    const turned = s.range(2).map((row) => ({ z: 2, id: row.id }));
    const rows = await more.union(turned).takeAll();
    expect(rows.map(({ id, z }) => `${id}:${z}`).sort()).toEqual(["0:1", "0:2", "1:1", "1:2"]);
  });

  test("[A2] tasks of one function that return different columns are refused", async () => {
    const ragged = s.range(4, { overrideNumBlocks: 2 }).map((row) => (row.id < 2 ? { a: 1 } : { b: 1 }));
    await expect(ragged.takeAll()).rejects.toThrow(/Return the same columns for every row/);
  });
});

describe("no rows from a function whose source does not tell its columns", () => {
  const name = "id";
  const none = (session: typeof s): Any =>
    session
      .range(4)
      .filter((row) => row.id > 9)
      .map((row) => ({ ...row, [name]: row.id }));
  const operators: Readonly<Record<string, (ds: Any) => Any>> = {
    distinct: (ds) => ds.distinct(),
    "repartition by keys": (ds) => ds.repartition({ keys: ["id"] }),
    "repartition by count": (ds) => ds.repartition(2),
    sort: (ds) => ds.sort("id"),
    shuffle: (ds) => ds.randomShuffle({ seed: 1 }),
    filter: (ds) => ds.filter(col("id").gt(1)),
    withColumn: (ds) => ds.withColumn("more", col("id").add(1)),
    limit: (ds) => ds.limit(3),
    sample: (ds) => ds.sample({ rows: 2, seed: 1 }),
    window: (ds) =>
      ds.withColumn(
        "before",
        col("id")
          .lag()
          .over({ orderBy: ["id"] }),
      ),
    groups: (ds) => ds.groupBy("id").mapGroups((group) => group),
  };

  for (const [below, first] of Object.entries(operators)) {
    test(`[A6] ${below} hands on no rows to every other operator`, async () => {
      for (const session of [s, exchanging]) {
        for (const [above, second] of Object.entries(operators)) {
          expect(await second(first(none(session))).takeAll(), `${below}, then ${above}`).toEqual([]);
        }
      }
    });
  }
});

describe("a side of a join that came out empty", () => {
  const left = () => s.fromItems([{ k: 1 }]);

  test("[A6] has the columns that its function's source tells", async () => {
    const none = s.range(4).map((row) => ({ k: row.id, name: `n${row.id}` }));
    const whole = [{ k: 1, name: null }];
    expect(
      await left()
        .join(
          none.filter((row) => row.k > 9),
          { on: "k", how: "left" },
        )
        .takeAll(),
    ).toEqual(whole);
    expect(
      await left()
        .join(none.filter(col("k").gt(9)), { on: "k", how: "left" })
        .takeAll(),
    ).toEqual(whole);
    const spread = s.range(4).map((row) => ({ ...row, k: row.id + 9 }));
    const joined = left().join(
      spread.filter((row) => row.k < 0),
      { on: "k", how: "left" },
    );
    expect(await joined.takeAll()).toEqual([{ k: 1, id: null }]);
    expect(String(await joined.schema())).toBe("k: DOUBLE\nid: BIGINT");
  });

  test("[A6] has the columns that the source of a class function or a group function tells", async () => {
    const joined = async (right: Dataset<{ k: number }>) =>
      left()
        .join(
          right.filter((row) => row.k > 99),
          { on: "k", how: "left" },
        )
        .takeAll();
    class Scores {
      call(batch: { id: ArrayLike<number> }) {
        return { k: Array.from(batch.id, (id) => id * 2), score: Array.from(batch.id, () => 0.5) };
      }
    }
    expect(await joined(s.range(4).mapBatches(Scores))).toEqual([{ k: 1, score: null }]);
    class Rows {
      call(rows: { id: number }[]) {
        return rows.map((row) => ({ k: row.id, twice: row.id * 2 }));
      }
    }
    expect(await joined(s.range(4).mapBatches(Rows, { batchFormat: "rows" }))).toEqual([{ k: 1, twice: null }]);
    const groups = s.range(4).withColumn("k", col("id").mod(2)).groupBy("k");
    const sums = groups.mapGroups((group) => ({ k: group.k[0] ?? 0, rows: group.id.length }));
    expect(await joined(sums)).toEqual([{ k: 1, rows: null }]);
    const ranked = groups.mapGroups((group) => ({ ...group, rank: Array.from(group.id, (_, i) => i) }));
    expect(await joined(ranked)).toEqual([{ k: 1, id: null, rank: null }]);
    const streamed = groups.mapGroups(
      async (batches) => {
        let [k, rows] = [0, 0];
        for await (const batch of batches) {
          k = batch.k[0] ?? 0;
          rows += batch.id.length;
        }
        return { k, rows };
      },
      { stream: true },
    );
    expect(await joined(streamed)).toEqual([{ k: 1, rows: null }]);
    const counted = s.range(4).map((row) => ({ k: row.id + 1, made: `n${row.id}` }));
    expect(await joined(counted)).toEqual([{ k: 1, made: null }]);
  });

  test("[A6] has no second column of the name that the suffix makes", async () => {
    const none = () => s.range(0).map((row) => ({ id: row.id, k: 1 }));
    const rows = (ds: Dataset) => ds.withColumn("sum", col("id.b").add(col("id"))).takeAll();
    const suffix = ".b";
    expect(await rows(none().join(s.range(2), { how: "cross", suffix }))).toEqual([]);
    expect(await rows(none().zip(s.range(0), { suffix }))).toEqual([]);
    // The name is asked for above two joins, and one of them is the left side of the other.
    const pairs = none().join(s.fromItems([{ k: 1, n: 5 }]), { on: "k" });
    expect(await rows(pairs.join(s.range(2), { how: "cross", suffix }))).toEqual([]);
    // A column of the left's own may be called so.
    const named = s.range(0).map((row) => ({ "id.b": row.id }));
    expect(await rows(named.join(s.range(2), { how: "cross", suffix }))).toEqual([]);
  });

  test("[A6] has the columns that are declared, and what SQL makes of them", async () => {
    const none = s.range(4).flatMap(() => [], { schema: { k: "BIGINT", name: "VARCHAR" } });
    const right = none.withColumn("upper", col("name")).rename({ name: "label" }).drop("upper");
    expect(await left().join(right, { on: "k", how: "left" }).takeAll()).toEqual([{ k: 1, label: null }]);
    const over = exchanging.range(4).flatMap(() => [], { schema: { k: "BIGINT", name: "VARCHAR" } });
    const exchanged = exchanging.fromItems([{ k: 1 }]).join(over, { on: "k", how: "left" });
    expect(await exchanged.takeAll()).toEqual([{ k: 1, name: null }]);
  });
});

describe("figures and batches", () => {
  test("[O10] a read that a limit cut short shows the rows that it gave", async () => {
    const read = s.range(1_000_000, { overrideNumBlocks: 1 }).filter((row) => row.id >= 0);
    const cut = read.offset(20_000).limit(5);
    expect((await cut.takeAll()).length).toBe(5);
    expect(cut.stats().operators[0]?.rowsOut.total).toBeGreaterThanOrEqual(20_005);
    const loose = s.range(1_000_000, { overrideNumBlocks: 4 }).flatMap((row) => [row]);
    const passed = loose.repartition(2).limit(5);
    await passed.takeAll();
    expect(passed.stats().operators[0]?.rowsOut.total).toBeGreaterThanOrEqual(5);
  });

  test("[A2] mapBatches after materialize fills a large batch across tasks", async () => {
    const kept = await s.range(100_000, { overrideNumBlocks: 10 }).materialize();
    // The largest first: what is kept is in the order in which its tasks were done.
    const filled = async (ds: Dataset<{ id: number }>, batchSize: number) =>
      (await ds.mapBatches((batch) => ({ n: [batch.id.length] }), { batchSize }).takeAll())
        .map(({ n }) => n)
        .sort((a, b) => b - a);
    expect(await filled(kept, 200_000)).toEqual([100_000]);
    expect(await filled(kept, 70_000)).toEqual([70_000, 30_000]);
    expect(await filled(kept, 30_000)).toEqual([30_000, 30_000, 30_000, 10_000]);
    expect(await filled(kept.where(col("id").mod(2).eq(0)), 20_000)).toEqual([20_000, 20_000, 10_000]);
    expect(await filled(kept.withColumn("x", col("id")), 70_000)).toEqual([70_000, 30_000]);
    expect(
      await kept
        .mapBatches((batch) => batch, { batchSize: 30_000 })
        .sort("id")
        .take(2),
    ).toEqual([{ id: 0 }, { id: 1 }]);
  });
});
