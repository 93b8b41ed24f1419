/**
 * A worker, or the wide kernel, is killed in the middle of relational work: the result is what it is without that,
 * nothing is there twice or missing, and nothing is left behind. Moments differ from case to case and are the same in
 * every run.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type AnyRow, col, count, type Dataset, type Session } from "spillway";
import { describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";

const sessions = testSessions("relational-kills");
const ROWS = 30_000;

const source = (s: Session) =>
  s.range(ROWS, { overrideNumBlocks: 12 }).map((row) => {
    return { id: row.id, k: (row.id * 7919) % 100, text: `row ${row.id}`.padEnd(60) };
  });
const byId = (rows: readonly AnyRow[]) => [...rows].sort((a, b) => Number(a.id ?? a.k) - Number(b.id ?? b.k));

const WORK: Readonly<Record<string, (s: Session) => Dataset<AnyRow>>> = {
  sort: (s) => source(s).sort(["k", "id"], { descending: [true, false] }),
  join: (s) =>
    source(s).join(
      s.range(100, { overrideNumBlocks: 3 }).map((row) => ({ k: row.id, name: `k${row.id}` })),
      { on: "k" },
    ),
  groupBy: (s) =>
    source(s)
      .groupBy("k")
      .agg({ n: count(), sum: col("id").sum(), last: col("text").max(), middle: col("id").median() }),
  window: (s) => source(s).withColumn("sum", col("id").sum().over({ partitionBy: "k", orderBy: "id" })),
  mapGroups: (s) =>
    source(s)
      .groupBy("k")
      .mapGroups((group) => ({
        k: [group.k[0] ?? -1],
        n: [group.id.length],
        sum: [group.id.reduce((a, b) => a + b, 0)],
      })),
};
const ORDERED = new Set(["sort"]);

/** Kills a process of this kind while it is busy for the n-th time that somebody looks; true where it did. */
async function killBusy(s: Session, kind: "worker" | "wide", nth: number, work: Promise<unknown>): Promise<boolean> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  for (let seen = 0; !ended; ) {
    const busy = (await s.resources()).workers.filter((one) => one.kind === kind && one.state === "busy");
    if (busy.length > 0) seen += 1;
    const victim = busy[nth % busy.length];
    if (seen < nth || victim?.pid == null) continue;
    process.kill(victim.pid, "SIGKILL");
    return true;
  }
  return false;
}

describe.each([{ exchange: false }, { exchange: true }])("exchange $exchange", ({ exchange }) => {
  const s = sessions.open({ exchange, targetMaxBlockSize: 256 * KIB, objectStoreMemory: "8 MiB" });
  const kinds = exchange ? (["worker"] as const) : (["worker", "wide"] as const);
  let kills = 0;

  for (const [name, work] of Object.entries(WORK)) {
    for (const kind of kinds) {
      // Groups go to functions in workers, whichever way.
      if (name === "mapGroups" && kind === "wide") continue;
      test(`[D5] ${name} goes on when a ${kind} is killed`, async () => {
        const sorted = (rows: readonly AnyRow[]) => (ORDERED.has(name) ? rows : byId(rows));
        const expected = sorted(await work(s).takeAll());
        for (const nth of [1, 4, 9]) {
          const running = work(s).takeAll();
          if (await killBusy(s, kind, nth, running)) kills += 1;
          expect(sorted(await running)).toEqual(expected);
        }
      });
    }
  }

  test("[D5] files written meanwhile are whole, each row in one of them", async () => {
    const kernel = Kernel.open({ threads: 1 });
    const connection = kernel.connect();
    try {
      for (const [i, kind] of [...kinds, ...kinds].entries()) {
        const out = join(sessions.directory, `written-${exchange}-${i}`);
        const running = WORK.sort?.(s)?.writeParquet(out);
        if (running === undefined) throw new Error("there is no sort");
        if (await killBusy(s, kind, 3 * i + 2, running)) kills += 1;
        const { files, rows } = await running;
        expect(rows).toBe(ROWS);
        expect(readdirSync(out).sort()).toEqual(files.map((file) => file.split("/").at(-1) ?? "").sort());
        expect(files.every((file) => existsSync(file))).toBe(true);
        const [found] = connection.all(
          `SELECT count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids, sum(id)::DOUBLE AS total FROM read_parquet('${out}/*.parquet')`,
        );
        expect(found).toEqual({ n: ROWS, ids: ROWS, total: (ROWS * (ROWS - 1)) / 2 });
      }
    } finally {
      connection.close();
      kernel.close();
    }
  });

  test("[D5] they were killed, and all that is left of it is free", async () => {
    expect(kills).toBeGreaterThan(Object.keys(WORK).length);
    expect((await s.resources()).used.objectStoreMemory).toBe(0);
  });
});
