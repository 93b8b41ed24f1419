/**
 * A session serves any number of jobs without growing. 1,000 of them here; SPILLWAY_TEST_JOBS=10000 for the long run.
 *
 * What is counted must not change at all: descriptors, files. The heaps may grow by what V8 keeps of compiled
 * functions: about a kilobyte a job, in workers, which it gives up when memory is short (a heap snapshot shows none of
 * it). Memory as the system sees it is noisy besides: V8 touches the pages of its young space one after the other,
 * malloc keeps what was freed. The bounds are twice what 10,000 jobs showed; what a job holds (a plan, a block, a task)
 * is more than that.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { leftovers } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const JOBS = Number(process.env.SPILLWAY_TEST_JOBS ?? 1_000);
const MIB = 2 ** 20;
const LIVE_GROWTH = MIB + JOBS * 1024;
const ANONYMOUS_GROWTH = 16 * MIB + JOBS * 2048;
/** Freed ranges stay backed, to be used again; how many there are depends on what was live at once. */
const SHARED_GROWTH = 4 * MIB;
const directory = temporaryDirectory("many-jobs");
const PROGRAM = fileURLToPath(new URL("programs/many-jobs.mjs", import.meta.url));

interface Held {
  readonly anonymous: number;
  readonly descriptors: number;
  readonly live: number;
}

interface Sample {
  readonly jobs: number;
  readonly program: Held;
  readonly supervisor: Omit<Held, "live">;
  readonly workers: readonly Held[];
  readonly shared: number;
  readonly files: number;
}

async function samples(): Promise<readonly Sample[]> {
  const local = join(directory, "local");
  mkdirSync(local);
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", PROGRAM, directory, String(JOBS)], {
    env: { ...process.env, TMPDIR: local, XDG_STATE_HOME: directory },
    maxBuffer: 16 * MIB,
  });
  expect(await leftovers(local, [])).toEqual([]);
  const { samples, seconds }: { samples: readonly Sample[]; seconds: number } = JSON.parse(stdout);
  process.stderr.write(`${JOBS} jobs: ${((1000 * seconds) / JOBS).toFixed(1)} ms each\n`);
  return samples;
}

/** From the end of the warm-up, a quarter of the jobs, to the end. */
function growth(of: readonly number[]): number {
  const quarter = Math.floor(of.length / 4);
  return median(of.slice(-quarter)) - median(of.slice(quarter, 2 * quarter));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

test("after many jobs a session holds what it held after a few", { timeout: 60_000 + 240 * JOBS }, async () => {
  const seen = await samples();
  const largest = (of: (held: Held) => number) => (sample: Sample) => Math.max(...sample.workers.map(of));
  const figure = (of: (sample: Sample) => number) => growth(seen.map(of));

  expect(figure((sample) => sample.program.descriptors)).toBe(0);
  expect(figure((sample) => sample.supervisor.descriptors)).toBe(0);
  expect(figure(largest((held) => held.descriptors))).toBe(0);
  expect(figure((sample) => sample.files)).toBe(0);
  expect(figure((sample) => sample.shared)).toBeLessThan(SHARED_GROWTH);
  expect(figure((sample) => sample.program.live)).toBeLessThan(LIVE_GROWTH);
  expect(figure(largest((held) => held.live))).toBeLessThan(LIVE_GROWTH);
  expect(figure((sample) => sample.program.anonymous)).toBeLessThan(ANONYMOUS_GROWTH);
  expect(figure((sample) => sample.supervisor.anonymous)).toBeLessThan(ANONYMOUS_GROWTH);
  expect(figure(largest((held) => held.anonymous))).toBeLessThan(ANONYMOUS_GROWTH);
});
