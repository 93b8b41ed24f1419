/** The command line of the comparison. */
import { parseArgs } from "node:util";
import { count, names, UsageError } from "../option-values.ts";
import { FEWEST_PAIRS, MOST_PAIRS } from "./statistics.ts";

export interface CompareOptions {
  /** As the user wrote it: a hash, a branch, HEAD~1. */
  readonly base: string;
  readonly only: readonly string[] | null;
  readonly pairs: number;
  readonly rows: number | null;
  readonly isJson: boolean;
  /** The highest ratio that the lower end of an interval may have. */
  readonly limit: number | null;
}

const PAIRS = 15;

export const HELP = `npm run compare -- <commit> [options]

Compares the work tree (current) with a commit (base) by the CPU time of all processes: program, supervisor and
workers, from the start of the program to the end of the last process. Takes root, for control groups.

  --only a,b       these workloads alone: {workloads}
  --pairs ${PAIRS}       pairs of runs a workload, in the order ABBA…, after one pair that is not counted
  --rows 2e6       rows of lineitem, for all workloads but tiny-tasks (each has its own default)
  --limit 1.02     exit code 1 when the lower end of an interval is above this ratio; takes ${FEWEST_PAIRS} pairs
  --json           prints the numbers as JSON (npm run --silent compare -- … prints nothing else)
  --help

The ratio is current / base: above 1, the work tree takes more CPU time. It is the median of the pairs' ratios. Its
interval is by order statistics (the sign test): it covers the true median with the probability beside it, which is
at least 95 % from ${FEWEST_PAIRS} pairs on.
`;

/** Null if help is wanted. */
export function parseCompareOptions(args: readonly string[], workloads: readonly string[]): CompareOptions | null {
  const { values, positionals } = parse(args);
  if (values.help) return null;
  const [base, ...more] = positionals;
  if (base === undefined || more.length > 0) {
    throw new UsageError(`One commit to compare with is needed, such as HEAD~1; there are ${positionals.length}.`);
  }
  const pairs = count(values.pairs, "--pairs") ?? PAIRS;
  if (pairs > MOST_PAIRS) {
    throw new UsageError(`--pairs takes at most ${MOST_PAIRS}; ${pairs} are more.`);
  }
  const limit = ratio(values.limit);
  if (limit !== null && pairs < FEWEST_PAIRS) {
    throw new UsageError(
      `--limit takes ${FEWEST_PAIRS} pairs or more: fewer give no interval of 95 %; --pairs is ${pairs}.`,
    );
  }
  return {
    base,
    only: names(values.only, workloads, "workload"),
    pairs,
    rows: count(values.rows, "--rows"),
    isJson: values.json ?? false,
    limit,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        only: { type: "string" },
        pairs: { type: "string" },
        rows: { type: "string" },
        limit: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function ratio(text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) {
    throw new UsageError(`--limit takes a ratio above 0, such as 1.02; "${text}" is none.`);
  }
  return value;
}
