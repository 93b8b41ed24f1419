/**
 * The wide kernel runs out of memory for every operator that can run in another way: operators of an exchange take its
 * place while the job runs, and the result is what it is without that. Nobody has to run out of memory for it: a
 * variable that only tests know makes the kernel refuse.
 */
import { join } from "node:path";
import { type AnyRow, col, count, type Dataset, type Session } from "spillway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const REFUSES = "SPILLWAY_TEST_WIDE_FAILS";
const sessions = testSessions("other-way");
const ROWS = 20_000;
const files = join(sessions.directory, "files");

const made = (s: Session) =>
  s.range(ROWS, { overrideNumBlocks: 8 }).map((row) => {
    return { id: row.id, k: (row.id * 7919) % 1009, text: `row ${row.id}`.padEnd(60) };
  });
const names = (s: Session) => s.range(1009).map((row) => ({ k: row.id, name: `k${row.id}` }));
const sales = (s: Session) => s.range(ROWS).map((row) => ({ k: row.id % 1009, amount: row.id }));

/** `sorted`: the rows come in an order of their own, which must be the same. */
const WORK: Readonly<Record<string, { of(s: Session): Dataset<AnyRow>; sorted?: true }>> = {
  sort: { of: (s) => made(s).sort(["k", "id"], { descending: [true, false] }), sorted: true },
  groupBy: {
    of: (s) =>
      made(s)
        .groupBy("k")
        .agg({ n: count(), last: col("text").max(), middle: col("id").median() }),
  },
  "join of few": { of: (s) => made(s).join(names(s), { on: "k" }) },
  "join of many": { of: (s) => made(s).join(sales(s), { on: "k", how: "left" }).groupBy("id").agg({ n: count() }) },
  distinct: { of: (s) => made(s).select("k").distinct() },
  randomShuffle: { of: (s) => made(s).randomShuffle({ seed: 7 }) },
  window: { of: (s) => made(s).withColumn("sum", col("id").sum().over({ partitionBy: "k", orderBy: "id" })) },
  "join, group, sort and limit": {
    of: (s) => made(s).join(names(s), { on: "k" }).groupBy("name").agg({ n: count() }).sort("name").limit(100),
    sorted: true,
  },
  "two of them": {
    of: (s) =>
      made(s)
        .sort("id")
        .map((row) => ({ ...row, even: row.id % 2 }))
        .groupBy("even")
        .agg({ n: count() }),
  },
  "of files and of functions": { of: (s) => s.readParquet(files).join(names(s), { on: "k" }) },
};

const results = new Map<string, readonly string[]>();
let refusing: Session;

beforeAll(async () => {
  const usual = sessions.open({ workers: 2 });
  await made(usual).writeParquet(files);
  for (const [name, { of }] of Object.entries(WORK)) results.set(name, texts(await of(usual).takeAll()));
  await usual.close();
  process.env[REFUSES] = "1";
  refusing = sessions.open({ workers: 2 });
  await refusing.range(1).takeAll();
});

afterAll(() => {
  delete process.env[REFUSES];
});

function texts(rows: readonly AnyRow[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value)));
}

describe("when the kernel has too little memory", () => {
  test.each(Object.keys(WORK))("[D1] %s runs as an exchange, with the same rows", async (name) => {
    const work = WORK[name];
    if (work === undefined) throw new Error(name);
    const ds = work.of(refusing);
    const rows = texts(await ds.takeAll());
    const expected = results.get(name) ?? [];
    if (work.sorted === true) expect(rows).toEqual(expected);
    else expect([...rows].sort()).toEqual([...expected].sort());
    expect(expected.length).toBeGreaterThan(1);
    expect(ds.stats()?.operators.some(({ ranAs }) => ranAs === "exchange")).toBe(true);
  });

  test("[D1] files are written once, and complete", async () => {
    const out = join(sessions.directory, "written");
    await made(refusing).sort("k").writeParquet(out);
    expect(await refusing.readParquet(out).count()).toBe(ROWS);
  });

  test("[D1] the next run does not try the kernel again", async () => {
    const again = () =>
      made(refusing)
        .sort("text")
        .map((row) => ({ id: row.id }));
    const retries = async (ds: Dataset<AnyRow>) => {
      expect(await ds.takeAll()).toHaveLength(ROWS);
      return ds.stats()?.operators.reduce((sum, one) => sum + one.oomRetries, 0);
    };
    await retries(again());
    expect(await retries(again())).toBe(0);
  });
});
