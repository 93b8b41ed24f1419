/** The command line of the benchmark. */
import { parseArgs } from "node:util";
import { count, names, UsageError } from "./option-values.ts";
import { type Bytes, ENGINE_NAMES, type EngineName } from "./workload.ts";

export interface BenchOptions {
  readonly only: readonly string[] | null;
  readonly rows: number | null;
  readonly runs: number | null;
  readonly engines: readonly EngineName[];
  readonly box: Bytes | null;
  readonly timeoutSeconds: number;
  readonly prepareOnly: boolean;
  readonly strict: boolean;
}

export const HELP = `npm run bench -- [options]
npm run bench -- survive [options]    work that memory is too small for, in a box of 1 GiB: {survive}

  --only a,b       these workloads alone: {workloads}
  --rows 1e6       scale: rows of lineitem, for the workloads that scale
  --runs 3         runs per engine; the median counts (each workload has its own default)
  --engines a,b    these engines alone: ${ENGINE_NAMES.join(", ")}
  --no-peers       without the Python engines
  --box 2GiB       every run in a memory box of this size (root, cgroup)
  --timeout 900    seconds after which a run is ended
  --prepare        make the data and the peers' environment, run nothing
  --strict         exit code 1 when a target is missed, not only when a run fails or answers differ
  --help

The report is printed, and written to bench/.out/report.md and bench/.out/report.json (survive.md and survive.json).
`;

/** Null if help is wanted. */
export function parseOptions(args: readonly string[], workloads: readonly string[]): BenchOptions | null {
  const { values } = parse(args);
  if (values.help) {
    return null;
  }
  const only = names(values.only, workloads, "workload");
  const engines = names(values.engines, ENGINE_NAMES, "engine") ?? ENGINE_NAMES;
  const withoutPython: readonly EngineName[] = ["spillway", "unboxed", "duckdb"];
  return {
    only,
    rows: count(values.rows, "--rows"),
    runs: count(values.runs, "--runs"),
    engines: values["no-peers"] ? engines.filter((engine) => withoutPython.includes(engine)) : engines,
    box: size(values.box),
    timeoutSeconds: count(values.timeout, "--timeout") ?? 900,
    prepareOnly: values.prepare ?? false,
    strict: values.strict ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: "string" },
        rows: { type: "string" },
        runs: { type: "string" },
        engines: { type: "string" },
        "no-peers": { type: "boolean" },
        box: { type: "string" },
        timeout: { type: "string" },
        prepare: { type: "boolean" },
        strict: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MiB: 2 ** 20, GiB: 2 ** 30 };

function size(text: string | undefined): Bytes | null {
  if (text === undefined) {
    return null;
  }
  const [, number, unit] = /^\s*([\d.]+)\s*(MB|GB|MiB|GiB)\s*$/.exec(text) ?? [];
  const factor = UNITS[unit ?? ""];
  if (number === undefined || factor === undefined) {
    throw new UsageError(`--box takes a size such as 2GiB or 512MB; "${text}" is none.`);
  }
  return Math.round(Number(number) * factor);
}
