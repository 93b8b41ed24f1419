/**
 * Runs a workload in both builds: pairs of runs, each a fresh process in a control group of its own, in the order
 * ABBA…, so that a machine that gets slower affects both builds equally. Answers must agree, run by run.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { answerOf, differences, run } from "../harness/index.ts";
import type { Answer, Assignment, Workload } from "../workload.ts";
import { BUILD_NAMES, type BuildName, type Builds } from "./builds.ts";
import type { Pair } from "./statistics.ts";

export interface PairsOptions {
  readonly workload: Workload;
  readonly assignment: Assignment;
  readonly builds: Builds;
  readonly pairs: number;
  /** A directory of the comparison's own, for the logs of sessions. */
  readonly directory: string;
  /** What programs write; empty at the start of each run. */
  readonly written: string;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** There is nothing to compare: CPU time cannot be counted, a run failed, or answers differ. */
export class ComparisonError extends Error {
  override readonly name = "ComparisonError";
}

interface Measured {
  readonly seconds: number;
  readonly answer: Answer;
}

const TIMEOUT_SECONDS = 900;

export async function measurePairs(options: PairsOptions): Promise<Pair[]> {
  const { workload, pairs: wanted, say } = options;
  const pairs: Pair[] = [];
  let first: { readonly build: BuildName; readonly answer: Answer } | null = null;
  // The first pair is the warm-up.
  for (let number = 0; number <= wanted; number++) {
    const pair = { base: 0, current: 0 };
    for (const build of number % 2 === 0 ? BUILD_NAMES : BUILD_NAMES.toReversed()) {
      const { seconds, answer } = await measureOnce(build, options);
      pair[build] = seconds;
      first ??= { build, answer };
      const differs = differences(first.answer, answer);
      if (differs.length > 0) {
        const which = build === first.build ? `two runs of ${build}` : `${first.build} and ${build}`;
        throw new ComparisonError(`${workload.name}: the answers of ${which} differ: ${differs.join("; ")}.`);
      }
    }
    if (number > 0) pairs.push(pair);
    const ratio = (pair.current / pair.base).toFixed(3);
    const which = number === 0 ? "warm-up" : `${number} of ${wanted}`;
    say(`  ${which}: base ${pair.base.toFixed(3)} s, current ${pair.current.toFixed(3)} s, ratio ${ratio}`);
  }
  return pairs;
}

async function measureOnce(build: BuildName, options: PairsOptions): Promise<Measured> {
  const { workload, assignment, builds, directory, written, signal, say } = options;
  signal.throwIfAborted();
  await rm(written, { recursive: true, force: true });
  await mkdir(written, { recursive: true });
  const program = join(builds[build], `${workload.program ?? workload.name}.js`);
  const done = await run({
    command: [process.execPath, program, JSON.stringify(assignment)],
    env: { ...process.env, XDG_STATE_HOME: join(directory, "state") },
    directory,
    timeoutSeconds: TIMEOUT_SECONDS,
    box: null,
    countsCpu: true,
  });
  signal.throwIfAborted();
  if (done.report === null || done.cpuSeconds === null) {
    throw new ComparisonError(`${workload.name}: ${build} failed: ${done.failure}.`);
  }
  if (done.leftBehind > 0) say(`  ${build} left ${done.leftBehind} processes behind; their CPU time is counted.`);
  const { answerOfFiles } = workload;
  const answer =
    answerOfFiles === undefined ? done.report.answer : await answerOf(answerOfFiles, assignment.job.written);
  return { seconds: done.cpuSeconds, answer };
}
