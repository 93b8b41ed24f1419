/**
 * `npm run compare`: what a change costs in CPU time. Builds a commit and the work tree, measures both in turns, and
 * prints ratios. Everything that it makes is in one temporary directory, which is removed at the end, after Ctrl-C too.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type MadeTables, makeTables, type TableName } from "../data/index.ts";
import { assign, InterruptedError, readIntoPageCache, WARM_UP_ROWS, whyNoCpuGroup } from "../harness/index.ts";
import { UsageError } from "../option-values.ts";
import { places } from "../places.ts";
import { facts } from "../report/index.ts";
import { makeBuilds, resolveCommit } from "./builds.ts";
import { ComparisonError, measurePairs } from "./measure.ts";
import { type CompareOptions, HELP, parseCompareOptions } from "./options.ts";
import { type CompareResult, compareTable, isSlower } from "./report.ts";
import { comparisonOf, type Pair } from "./statistics.ts";
import { COMPARED } from "./workloads.ts";

type Result = CompareResult & { readonly pairs: readonly Pair[] };

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/**
 * Returns the exit code. `buildCurrent` builds the work tree. It is called when all checks that could refuse the run
 * are done.
 */
export async function compare(args: readonly string[], buildCurrent: () => Promise<void>): Promise<number> {
  try {
    const names = COMPARED.map(({ name }) => name);
    const options = parseCompareOptions(args, names);
    if (options === null) {
      process.stdout.write(HELP.replace("{workloads}", names.join(", ")));
      return 0;
    }
    const commit = await resolveCommit(options.base);
    const missing = await whyNoCpuGroup();
    if (missing !== null) throw new ComparisonError(missing);
    await buildCurrent();
    return await report(await inTemporaryDirectory((place) => measureAll(options, commit, place)), options, commit);
  } catch (error) {
    if (error instanceof InterruptedError) return 130;
    if (error instanceof UsageError) {
      say(`${error.message}\nnpm run compare -- --help says what there is.`);
      return 2;
    }
    if (!(error instanceof ComparisonError)) throw error;
    say(error.message);
    return 1;
  }
}

interface Place {
  readonly directory: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

async function inTemporaryDirectory<T>(use: (place: Place) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new InterruptedError("Interrupted."));
  // Handled until the directory is removed: a second Ctrl-C does not stop the clean-up.
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt).on("SIGHUP", interrupt);
  const directory = await realpath(await mkdtemp(join(tmpdir(), "spillway-compare-")));
  try {
    return await use({ directory, signal: interrupted.signal });
  } catch (error) {
    // After an interrupt, any other error is its consequence.
    interrupted.signal.throwIfAborted();
    throw error;
  } finally {
    if (interrupted.signal.aborted) say("Interrupted; clearing up.");
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt).off("SIGHUP", interrupt);
  }
}

async function measureAll(options: CompareOptions, commit: string, { directory, signal }: Place): Promise<Result[]> {
  const builds = await makeBuilds({ commit, directory, signal, say });
  const workloads = COMPARED.filter(({ name }) => options.only?.includes(name) ?? true).map((workload) => ({
    ...workload,
    rows: workload.scales ? (options.rows ?? workload.rows) : workload.rows,
  }));
  const tables = (names: readonly TableName[], rows: number): Promise<MadeTables> =>
    makeTables({
      directory: join(directory, "data"),
      program: join(places.programs, "make-data.js"),
      tables: names,
      rows,
      onFile: (path) => say(`  made ${path.slice(directory.length + 1)}`),
      signal,
    });
  const warmUpFiles = await tables(["lineitem", "orders"], WARM_UP_ROWS);
  const written = join(directory, "written");
  const cores = availableParallelism();
  const results: Result[] = [];
  for (const workload of workloads) {
    signal.throwIfAborted();
    say(`${workload.name}: ${workload.title}`);
    const files = await tables(workload.tables, workload.rows);
    await readIntoPageCache(files);
    const assignment = assign({ workload, files, warmUpFiles, cores, box: null, written });
    const { pairs: count } = options;
    const pairs = await measurePairs({ workload, assignment, builds, pairs: count, directory, written, signal, say });
    results.push({ workload, pairs, comparison: comparisonOf(pairs) });
  }
  return results;
}

async function report(results: readonly Result[], options: CompareOptions, commit: string): Promise<number> {
  const { isJson, limit, pairs } = options;
  const known = await facts(places.project, {});
  if (isJson) {
    process.stdout.write(`${JSON.stringify(asJson(results, known, commit), null, 2)}\n`);
  } else {
    const builds = `${known.commit} (current) / ${commit.slice(0, 12)} (base)`;
    const count = `${pairs} ${pairs === 1 ? "pair" : "pairs"}`;
    process.stdout.write(
      `\n${compareTable(results)}\nCPU time of all processes, whole runs. Ratio: ${builds}, the median of ${count}.\n` +
        "Interval: by order statistics (sign test).\n",
    );
  }
  const slower = limit === null ? [] : results.filter((result) => isSlower(result, limit));
  for (const { workload, comparison } of slower) {
    const { low, high } = comparison.interval;
    say(
      `Slower: ${workload.name} takes ${low.toFixed(3)} to ${high.toFixed(3)} times the CPU time of ` +
        `${commit.slice(0, 12)}; the limit is ${limit}.`,
    );
  }
  return slower.length > 0 ? 1 : 0;
}

function asJson(results: readonly Result[], { peers: _, ...known }: Awaited<ReturnType<typeof facts>>, base: string) {
  return {
    facts: { ...known, base },
    workloads: results.map(({ workload: { name, title, rows }, pairs, comparison }) => ({
      name,
      title,
      rows,
      pairs,
      ...comparison,
    })),
  };
}
