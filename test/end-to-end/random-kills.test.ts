/**
 * Two hundred workers are killed while they run tasks, at moments of chance and by several signals: every result is
 * what it is without that, and nothing is left behind. A failure names its seed: `SPILLWAY_TEST_SEED=7 npx vitest run
 * random-kills` draws the same victims and pauses again (what they meet is up to the machine).
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type AnyRow, col, count, type Dataset, type DatasetStats, type Session } from "spillway";
import { beforeAll, expect, test } from "vitest";
import { Chance } from "../simulate/chance.ts";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";

const SEED = Number(process.env.SPILLWAY_TEST_SEED ?? Date.now() % 1_000_000);
const KILLS = 200;
/** Most as the system does it, some as native code dies, a few as a person asks. */
const SIGNALS: readonly NodeJS.Signals[] = [
  ...Array<NodeJS.Signals>(6).fill("SIGKILL"),
  "SIGSEGV",
  "SIGSEGV",
  "SIGABRT",
  "SIGTERM",
];
const ROWS = 24_000;
const TASKS = 12;

interface Outcome {
  readonly rows: readonly AnyRow[];
  readonly stats: readonly DatasetStats[];
}

const sessions = testSessions("random-kills");
const chance = new Chance(SEED);
const options = { workers: 3, maxRetries: 1000, targetMaxBlockSize: 128 * KIB, objectStoreMemory: "8 MiB" } as const;
const s = sessions.open(options);
const ordered = sessions.open({ ...options, preserveOrder: true });
const exchanging = sessions.open({ ...options, exchange: true });
const files = join(sessions.directory, "input");
let written = 0;
let hits = 0;

/** A row function that takes its time, so that there is something to kill. */
function work(row: { id: number }): { id: number; k: number; text: string } {
  let k = row.id;
  for (let i = 0; i < 1_000; i++) k = (k * 7919 + i) % 1009;
  return { id: row.id, k: k % 100, text: `row ${row.id}`.padEnd(60, "·") };
}

class Numbered {
  readonly #start: number;

  constructor(start: number) {
    this.#start = start;
  }

  call(batch: { id: Float64Array; k: Float64Array; text: string[] }): { id: number[]; n: number[] } {
    return { id: [...batch.id], n: Array.from(batch.k, (k) => k + this.#start) };
  }
}

const rowsOf = (of: Session) => of.readParquet<{ id: number }>(files, { overrideNumBlocks: TASKS }).map(work);

async function taken(dataset: Dataset<AnyRow>, asTheyCome = false): Promise<Outcome> {
  const rows = await dataset.takeAll();
  return { rows: asTheyCome ? rows : sorted(rows), stats: [dataset.stats()] };
}

function sorted(rows: readonly AnyRow[]): AnyRow[] {
  return [...rows].sort((a, b) => Number(a.id ?? a.k) - Number(b.id ?? b.k));
}

const JOBS: Readonly<Record<string, readonly [Session, () => Promise<Outcome>]>> = {
  "read, row function, count": [
    s,
    async () => {
      const even = rowsOf(s).filter((row) => row.k % 2 === 0);
      return { rows: [{ n: await even.count() }], stats: [even.stats()] };
    },
  ],
  "rows in the order of the input": [
    ordered,
    async () => {
      const mapped = rowsOf(ordered).map((row) => ({ id: row.id, text: row.text }));
      const rows: AnyRow[] = [];
      for await (const row of mapped.iterRows()) rows.push(row);
      return { rows, stats: [mapped.stats()] };
    },
  ],
  "batch function, Parquet": [
    s,
    async () => {
      const directory = join(sessions.directory, `written-${++written}`);
      const out = rowsOf(s).mapBatches((batch) => ({ id: batch.id, double: Array.from(batch.k, (k) => 2 * k) }), {
        batchSize: 500,
      });
      const report = await out.writeParquet(directory);
      expect(readdirSync(directory).sort()).toEqual(report.files.map((file) => file.split("/").at(-1)).sort());
      return { rows: sorted(await s.readParquet(directory).takeAll()), stats: [out.stats()] };
    },
  ],
  "class function": [s, () => taken(rowsOf(s).mapBatches(Numbered, { constructorArgs: [7], batchSize: 300 }))],
  "groups after a function": [
    s,
    () =>
      taken(
        rowsOf(s)
          .groupBy("k")
          .agg({ n: count(), sum: col("id").sum(), last: col("text").max(), middle: col("id").median() }),
      ),
  ],
  sort: [s, () => taken(rowsOf(s).sort(["k", "id"], { descending: [true, false] }), true)],
  "exchanging sort": [exchanging, () => taken(rowsOf(exchanging).sort(["k", "id"]), true)],
  "exchanging join": [
    exchanging,
    () =>
      taken(
        rowsOf(exchanging).join(
          exchanging.range(100, { overrideNumBlocks: 4 }).map((row) => ({ k: row.id, name: `k${row.id}` })),
          { on: "k" },
        ),
      ),
  ],
  "rows kept in the store": [
    s,
    async () => {
      const made = rowsOf(s);
      const kept = await made.materialize();
      const all = kept.map((row) => ({ id: row.id, k: row.k }));
      const rows = sorted(await all.takeAll());
      const length = kept.mapBatches((batch) => ({ n: [batch.text.join("").length] })).agg({ n: col("n").sum() });
      rows.push(await length);
      kept.dispose();
      return { rows, stats: [made.stats(), all.stats()] };
    },
  ],
  "functions of groups": [
    s,
    () =>
      taken(
        rowsOf(s)
          .groupBy("k")
          .mapGroups((group) => ({
            k: [group.k[0] ?? -1],
            n: [group.id.length],
            sum: [group.id.reduce((a, b) => a + b, 0)],
          })),
      ),
  ],
  "windows of a pipeline": [
    s,
    async () => {
      const pipeline = s
        .readParquet<{ id: number }>(files, { overrideNumBlocks: TASKS })
        .window({ blocks: 4 })
        .map(work)
        .groupBy("k")
        .agg({ n: count(), sum: col("id").sum() });
      const rows = await pipeline.takeAll();
      const key = (row: AnyRow) => Number(row.k) * 1e12 + Number(row.sum);
      return { rows: rows.sort((a, b) => key(a) - key(b)), stats: [pipeline.stats()] };
    },
  ],
};

/** Kills so many busy workers of the session, after pauses of chance, as long as the job runs. */
async function disturb(of: Session, kills: number, job: Promise<unknown>): Promise<void> {
  const run = { ended: false };
  const end = () => {
    run.ended = true;
  };
  job.then(end, end);
  for (let left = kills; left > 0 && !run.ended; ) {
    await pause(chance.between(0, 100));
    const busy = (await of.resources()).workers.filter(({ state, pid }) => state === "busy" && pid !== null);
    if (busy.length === 0 || run.ended) continue;
    const { pid } = chance.oneOf(busy);
    if (pid === null) continue;
    if (killed(pid, chance.oneOf(SIGNALS))) left -= 1;
  }
}

/** False where it had ended, of an earlier signal, and the session did not know yet. */
function killed(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

function retriesIn({ stats }: Outcome): number {
  return stats.flatMap(({ operators }) => operators).reduce((sum, { retries }) => sum + retries, 0);
}

beforeAll(async () => {
  process.stderr.write(`random kills: SPILLWAY_TEST_SEED=${SEED}\n`);
  await s.range(ROWS, { overrideNumBlocks: TASKS }).writeParquet(files);
});

const names = Object.keys(JOBS);
const share = Math.ceil(KILLS / names.length);

for (const [name, [of, job]] of Object.entries(JOBS)) {
  test(`[D5] ${name}: the same whoever is killed`, async () => {
    const expected = (await job()).rows;
    for (let hit = 0; hit < share; ) {
      const running = job();
      await disturb(of, chance.between(1, 8), running);
      const outcome = await running;
      expect(outcome.rows, `seed ${SEED}`).toEqual(expected);
      hit += retriesIn(outcome);
      hits += retriesIn(outcome);
    }
  });
}

test("[D5] two hundred were killed in the middle of a task, and all that is left of it is free", async () => {
  expect(hits).toBeGreaterThanOrEqual(KILLS);
  for (const of of [s, ordered, exchanging]) expect((await of.resources()).used.objectStoreMemory).toBe(0);
});
