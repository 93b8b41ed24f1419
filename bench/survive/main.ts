/** `npm run bench -- survive`: every job in every engine, each in a fresh program in a memory box of its own. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { answerOf, commandFor, compilePrograms, preparePython, run } from "../harness/index.ts";
import type { BenchOptions } from "../options.ts";
import { places } from "../places.ts";
import { facts } from "../report/index.ts";
import type { Answer, Bytes, EngineName } from "../workload.ts";
import { surviveFiles } from "./data.ts";
import { type SurviveAssignment, type SurviveJob, surviveJobs } from "./jobs.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { type SurviveResult, surviveMarkdown, surviveTable } from "./table.ts";

const ENGINES: readonly EngineName[] = ["spillway", "daft", "ray", "dask"];
const BOX: Bytes = 2 ** 30;
/** Sort and join: ten times the box. */
const TIMES = 10;
const ROW: Bytes = 1024;

export const SURVIVE_NAMES = surviveJobs(0, 0).map(({ name }) => name);

/** Returns the exit code: 1 if one of our jobs did not end as it must. */
export async function survive(options: BenchOptions, say: (text: string) => void): Promise<number> {
  const box = options.box ?? BOX;
  const jobs = surviveJobs(options.rows ?? (TIMES * box) / ROW, availableParallelism()).filter(
    ({ name }) => options.only?.includes(name) ?? true,
  );
  await mkdir(places.out, { recursive: true });
  await compilePrograms();
  const python = await preparePython(say);
  const isThere = (engine: EngineName): boolean => engine === "spillway" || python.kind === "ready";
  const engines = ENGINES.filter((engine) => options.engines.includes(engine) && isThere(engine));
  const results: SurviveResult[] = [];
  for (const job of jobs) {
    const files = job.rows === 0 ? [] : await surviveFiles(job.rows, say);
    if (options.prepareOnly) continue;
    say(`${job.name}: ${job.title}`);
    const outcomes = new Map<EngineName, Outcome>();
    for (const engine of engines) {
      const outcome = await runJob(job, engine, files, box, python.kind === "ready" ? python.python : "");
      say(`  ${engine}: ${outcome.ending}, ${outcome.seconds.toFixed(1)} s, ${outcome.kills} kills ${outcome.detail}`);
      outcomes.set(engine, outcome);
    }
    results.push({ job, outcomes });
  }
  if (options.prepareOnly) return 0;
  const known = await facts(places.project, python.kind === "ready" ? python.versions : {});
  const size = `${box / 2 ** 20} MiB`;
  await writeFile(join(places.out, "survive.md"), surviveMarkdown(known, size, results, engines));
  const plain = results.map(({ job, outcomes }) => ({ job, outcomes: Object.fromEntries(outcomes) }));
  await writeFile(join(places.out, "survive.json"), `${JSON.stringify({ facts: known, results: plain }, null, 2)}\n`);
  process.stdout.write(`\n${surviveTable(results, engines)}`);
  return results.every(({ outcomes }) => outcomes.get("spillway")?.isRight ?? true) ? 0 : 1;
}

async function runJob(
  job: SurviveJob,
  engine: EngineName,
  files: readonly string[],
  box: Bytes,
  python: string,
): Promise<Outcome> {
  // A directory of its own, because two of these may run at once with different engines.
  const directory = join(places.written, String(process.pid));
  await mkdir(directory, { recursive: true });
  const written = join(directory, "result");
  const assignment: SurviveAssignment = { name: job.name, workers: job.workers, files, written };
  const { command, env } = commandFor(engine, "survive", assignment, python);
  const { timeoutSeconds } = job;
  const done = await run({ command, env, directory: places.project, timeoutSeconds, box, isContainer: true });
  const answer = await answerFrom(job, done.report?.answer ?? null, written);
  await rm(directory, { recursive: true, force: true });
  return outcomeOf(job, done, answer);
}

async function answerFrom(job: SurviveJob, reported: Answer | null, written: string): Promise<Answer | null> {
  if (reported === null || reported.error !== undefined || job.answerOfFiles === undefined) return reported;
  return answerOf(job.answerOfFiles, written).catch(() => null);
}
