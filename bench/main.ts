/** The benchmark: prepares data and peers, runs the workloads, reports. `--help` lists the options. */
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type MadeTables, makeTables, TABLE_NAMES, type TableName } from "./data/index.ts";
import {
  compilePrograms,
  InterruptedError,
  measure,
  type OwnPython,
  preparePython,
  WARM_UP_ROWS,
  type WorkloadResult,
} from "./harness/index.ts";
import { UsageError } from "./option-values.ts";
import { type BenchOptions, HELP, parseOptions } from "./options.ts";
import { places } from "./places.ts";
import { asMarkdown, asTable, facts, judge } from "./report/index.ts";
import { SURVIVE_NAMES, survive } from "./survive/index.ts";
import type { EngineName, Workload } from "./workload.ts";
import { WORKLOADS } from "./workloads/index.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(options: BenchOptions): Promise<number> {
  const workloads = chosen(options);
  await mkdir(places.out, { recursive: true });
  await compilePrograms();
  const python = await peersFor(workloads, options);
  const warmUpFiles = await tables(TABLE_NAMES, WARM_UP_ROWS);
  const results: WorkloadResult[] = [];
  for (const workload of workloads) {
    const files = await tables(workload.tables, workload.rows);
    if (options.prepareOnly) {
      continue;
    }
    say(`${workload.name}: ${workload.title}`);
    results.push(
      await measure({
        workload,
        engines: enginesOf(workload, options, python),
        files,
        warmUpFiles,
        cores: availableParallelism(),
        python: python.kind === "ready" ? python.python : "",
        timeoutSeconds: options.timeoutSeconds,
        say,
      }),
    );
  }
  return options.prepareOnly ? 0 : await report(results, python, options);
}

function chosen(options: BenchOptions): Workload[] {
  return WORKLOADS.filter(
    ({ name, group }) => options.only?.some((wanted) => wanted === name || wanted === group) ?? true,
  ).map((workload) => ({
    ...workload,
    rows: workload.scales ? (options.rows ?? workload.rows) : workload.rows,
    runs: options.runs ?? workload.runs,
    box: options.box ?? workload.box,
  }));
}

function enginesOf(workload: Workload, options: BenchOptions, python: OwnPython): EngineName[] {
  const engines: readonly EngineName[] = ["spillway", ...workload.peers];
  return engines.filter(
    (engine) => options.engines.includes(engine) && (python.kind === "ready" || !needsPython(engine)),
  );
}

function needsPython(engine: EngineName): boolean {
  return engine !== "spillway" && engine !== "unboxed" && engine !== "duckdb";
}

async function peersFor(workloads: readonly Workload[], options: BenchOptions): Promise<OwnPython> {
  const wanted = workloads.some((workload) =>
    workload.peers.some((peer) => needsPython(peer) && options.engines.includes(peer)),
  );
  if (!wanted) {
    return { kind: "missing", reason: "not asked for" };
  }
  const python = await preparePython(say);
  if (python.kind === "missing") {
    say(`Without Python peers: ${python.reason}`);
  }
  return python;
}

function tables(names: readonly TableName[], rows: number): Promise<MadeTables> {
  return makeTables({
    directory: places.data,
    program: join(places.programs, "make-data.js"),
    tables: names,
    rows,
    onFile: (path, left) => say(`  made ${path.slice(places.data.length + 1)}${left > 0 ? `, ${left} to go` : ""}`),
  });
}

/** The exit code: 1 if our own run failed or answers differ or, if asked to be strict, if a target is missed. */
async function report(results: readonly WorkloadResult[], python: OwnPython, options: BenchOptions): Promise<number> {
  const verdicts = results.flatMap(judge);
  const known = await facts(places.project, python.kind === "ready" ? python.versions : {});
  await writeFile(join(places.out, "report.md"), asMarkdown(known, results, verdicts));
  await writeFile(join(places.out, "report.json"), `${JSON.stringify({ facts: known, verdicts, results }, null, 2)}\n`);
  process.stdout.write(`\n${asTable(verdicts)}`);
  const disagreements = results.flatMap((result) => result.disagreements);
  for (const text of disagreements) {
    say(`Wrong: ${text}`);
  }
  const failed = results.some((result) =>
    result.engines.some(({ engine, failure }) => engine === "spillway" && failure),
  );
  const missed = verdicts.some((verdict) => verdict.met === false);
  return disagreements.length > 0 || failed || (options.strict && missed) ? 1 : 0;
}

try {
  const names = [...new Set(WORKLOADS.flatMap(({ name, group }) => (group === undefined ? [name] : [name, group])))];
  const [command, ...rest] = process.argv.slice(2);
  const survives = command === "survive";
  const options = survives ? parseOptions(rest, SURVIVE_NAMES) : parseOptions(process.argv.slice(2), names);
  if (options === null) {
    process.stdout.write(HELP.replace("{workloads}", names.join(", ")).replace("{survive}", SURVIVE_NAMES.join(", ")));
  } else {
    process.exitCode = survives ? await survive(options, say) : await main(options);
  }
} catch (error) {
  if (error instanceof UsageError) {
    say(`${error.message}\nnpm run bench -- --help says what there is.`);
    process.exitCode = 2;
  } else if (error instanceof InterruptedError) {
    process.exitCode = 130;
  } else {
    throw error;
  }
}
