/**
 * Measures a workload, from files to results: engines take turns, each runs as often as the workload asks for, and
 * answers are compared. A peer that fails is a result like any other, and is not run again.
 */
import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { MadeTables } from "../data/index.ts";
import { places } from "../places.ts";
import type { Answer, EngineName, Workload } from "../workload.ts";
import { differences } from "./answers.ts";
import { assign } from "./assignment.ts";
import type { BoxPeaks } from "./box.ts";
import { commandFor } from "./engines.ts";
import type { MemoryPeaks } from "./memory.ts";
import { readIntoPageCache } from "./page-cache.ts";
import { type Run, run } from "./run.ts";

export interface Measurement {
  readonly seconds: number;
  readonly startup: number;
  readonly memory: MemoryPeaks;
  readonly box: BoxPeaks | null;
  readonly leftBehind: number;
}

export interface EngineResult {
  readonly engine: EngineName;
  readonly measurements: readonly Measurement[];
  readonly answer: Answer | null;
  readonly failure: string | null;
}

export interface WorkloadResult {
  readonly workload: Workload;
  readonly engines: readonly EngineResult[];
  /** In words; empty if all answers agree. */
  readonly disagreements: readonly string[];
}

export interface MeasureOptions {
  readonly workload: Workload;
  readonly engines: readonly EngineName[];
  readonly files: MadeTables;
  readonly warmUpFiles: MadeTables;
  readonly cores: number;
  readonly python: string;
  readonly timeoutSeconds: number;
  readonly say: (text: string) => void;
}

export async function measure(options: MeasureOptions): Promise<WorkloadResult> {
  const { workload } = options;
  await readIntoPageCache(options.files);
  const results = new Map<EngineName, EngineResult>(
    options.engines.map((engine) => [engine, { engine, measurements: [], answer: null, failure: null }]),
  );
  for (let turn = 0; turn < workload.runs; turn++) {
    for (const [engine, result] of results) {
      if (result.failure === null) {
        results.set(engine, await measureOnce(engine, result, options));
      }
    }
  }
  const engines = [...results.values()];
  return { workload, engines, disagreements: disagreements(engines) };
}

async function measureOnce(engine: EngineName, result: EngineResult, options: MeasureOptions): Promise<EngineResult> {
  const { workload, say } = options;
  const box = engine === "unboxed" ? null : workload.box;
  const { files, warmUpFiles, cores } = options;
  const assignment = assign({ workload, files, warmUpFiles, cores, box, written: places.written });
  await rm(places.written, { recursive: true, force: true });
  await mkdir(places.written, { recursive: true });
  const { command, env } = commandFor(engine, workload.program ?? workload.name, assignment, options.python);
  const { timeoutSeconds } = options;
  const done = await run({ command, env, directory: places.project, timeoutSeconds, box });
  if (done.report === null) {
    say(`  ${engine}: failed: ${done.failure}`);
    return { ...result, failure: done.failure };
  }
  const seconds = workload.clock === "process" ? done.secondsToReport : done.report.seconds;
  say(`  ${engine}: ${seconds.toFixed(3)} s${aside(done)}`);
  const answer =
    workload.answerOfFiles === undefined
      ? done.report.answer
      : await answerOf(workload.answerOfFiles, assignment.job.written).catch(() => null);
  await rm(places.written, { recursive: true, force: true });
  if (answer === null) {
    return { ...result, failure: "the answer cannot be had from the files it wrote" };
  }
  const { startup } = done.report;
  const measurement = { seconds, startup, memory: done.memory, box: done.box, leftBehind: done.leftBehind };
  const measurements = [...result.measurements, measurement];
  const changed = result.answer === null ? [] : differences(result.answer, answer);
  const failure = changed.length === 0 ? null : `two runs, two answers: ${changed.join("; ")}`;
  return { ...result, measurements, answer, failure };
}

function aside(done: Run): string {
  return done.leftBehind === 0 ? "" : ` (left ${done.leftBehind} processes behind)`;
}

/** What a query returns about the files that a program wrote. */
export async function answerOf(query: string, directory: string): Promise<Answer> {
  const sql = query.replace("{written}", join(directory, "**", "*.parquet").replaceAll("'", "''"));
  const { stdout } = await promisify(execFile)(process.execPath, [join(places.programs, "query.js"), sql]);
  return JSON.parse(stdout);
}

function disagreements(engines: readonly EngineResult[]): string[] {
  const [first, ...others] = engines.filter((engine) => engine.answer !== null);
  if (first === undefined || first.answer === null) {
    return [];
  }
  const reference = first.answer;
  return others.flatMap((other) => {
    const found = other.answer === null ? [] : differences(reference, other.answer);
    return found.length === 0 ? [] : [`${first.engine} and ${other.engine} disagree: ${found.join("; ")}`];
  });
}
