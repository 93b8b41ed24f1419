/**
 * Rows whose cargo stays outside of the kernel: every shape of plan gives the rows that it gives without references,
 * in one wide task and in the tasks of an exchange. The border is forced to 0, so that all rows count as wide.
 */
import { type AnyRow, col, type Dataset, type Session, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";

const sessions = testSessions("cargo");
const shape = { targetMaxBlockSize: 64 * KIB, targetMinBlockSize: 16 * KIB };
const ROWS = 300;

function wide(s: Session, rows = ROWS): Dataset<AnyRow> {
  return s.range(rows, { overrideNumBlocks: 3 }).map(({ id }) => ({
    id: (id * 7919) % 1009,
    g: id % 10,
    text: id % 7 === 3 ? null : `text ${id} `.repeat(id % 30),
    data: id % 11 === 5 ? null : Buffer.alloc((id * 37) % 2000, id % 251),
    list: id % 5 === 0 ? null : Array.from({ length: id % 4 }, (_, i) => id + i),
    deep: { a: `a${id}`, b: [{ c: id }, null] },
  }));
}

const labels = (s: Session) =>
  s.range(200).map(({ id }) => ({ id: id * 3, text: `label ${id}`, more: `more ${id} `.repeat(id % 20) }));

const empty = (s: Session) => labels(s).filter(({ id }) => id < 0);

const SHAPES: Readonly<Record<string, (s: Session) => Dataset<AnyRow>>> = {
  sort: (s) => wide(s).sort("id"),
  "sort by an expression": (s) => wide(s).sort([sql("length(text)"), "id"], { descending: [true, false] }),
  "sort, then a filter and columns": (s) =>
    wide(s)
      .sort("id")
      .filter(sql("length(text) > 20"))
      .withColumn("n", sql("len(list)"))
      .select("id", "n", col("data").as("renamed"), "deep"),
  "sort, then rename, drop, limit": (s) =>
    wide(s).sort("id").rename({ text: "id text" }).drop("data").offset(20).limit(50),
  "sort, then a column of the same name": (s) => wide(s).sort("id").withColumn("text", sql("upper(text)")),
  "sort, dropNull, explode": (s) => wide(s).sort("id").dropNull().explode("list"),
  randomShuffle: (s) => wide(s).randomShuffle({ seed: 5 }),
  "shuffle of a sort": (s) => wide(s).sort("id").randomShuffle({ seed: 5 }),
  ...Object.fromEntries(
    (["inner", "left", "right", "full", "semi", "anti"] as const).flatMap((how) => [
      [`${how} join`, (s: Session) => wide(s).join(labels(s), { on: "id", how }).sort("id")],
      [`${how} join with nothing`, (s: Session) => wide(s).join(empty(s), { on: "id", how }).sort("id")],
    ]),
  ),
  "join, then a filter on a suffixed column": (s) =>
    wide(s).join(labels(s), { on: "id", suffix: "_label" }).filter(sql("text_label LIKE '%1%'")).sort("id"),
  "join of joins": (s) => wide(s).join(labels(s), { on: "id" }).join(labels(s), { on: "id", suffix: "_3" }).sort("id"),
  "cross join": (s) => wide(s, 20).join(labels(s).limit(3), { how: "cross" }).sort(["id", "id_right"]),
  zip: (s) => wide(s).zip(wide(s)),
  "distinct on a column": (s) => wide(s).distinct("id").sort("id"),
  "distinct whole rows": (s) => wide(s).union(wide(s)).distinct().sort("id"),
  "distinct texts": (s) => wide(s).distinct("text").sort("text").select("text"),
  "groups of rows": (s) =>
    wide(s)
      .sort("id")
      .groupBy("g")
      .mapGroups((group) => ({
        g: [group.g[0]],
        texts: [group.text.map((text: string | null) => text?.length ?? -1).join()],
      }))
      .sort("g"),
  aggregates: (s) =>
    wide(s)
      .groupBy("g")
      .agg({ longest: col("text").max(), rows: col("data").count() })
      .sort("g"),
  "a window": (s) => wide(s).withColumn("place", sql("row_number() OVER (PARTITION BY g ORDER BY id)")).sort("id"),
  "a sample of rows": (s) => wide(s).sort("id").sample({ rows: 20, seed: 3 }).sort("id"),
  "a union of sorts": (s) => wide(s).sort("id").union(wide(s).sort("g")).sort(["id", "g"]),
  "no rows": (s) =>
    wide(s)
      .filter(({ id }) => id === -1)
      .sort("id"),
};

describe.each([
  ["one wide task", false],
  ["an exchange", true],
])("%s", (_, exchange) => {
  const ordinary = sessions.open({ ...shape, exchange });
  const other = sessions.open({ ...shape, exchange, workerEnv: { SPILLWAY_TEST_CARGO_BORDER: "0" } });

  test("[D1] stats and explain tell how many rows went by reference, and how wide they are", async () => {
    const sorted = wide(other).sort("id");
    await sorted.takeAll();
    const [told] = sorted.stats().operators.filter(({ byReference }) => byReference !== undefined);
    expect(told?.byReference).toMatchObject({ rows: ROWS });
    expect(told?.byReference?.bytes).toBeGreaterThan(ROWS * 500);
    expect(await sorted.explain()).toMatch(/ 300 wide rows by reference \([\d.]+ (B|KiB) a row\)/);
  });

  test.each(Object.entries(SHAPES))("[D1] %s", async (_name, make) => {
    expect(await make(other).takeAll()).toEqual(await make(ordinary).takeAll());
  });
});
