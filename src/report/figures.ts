/** Figures of a whole session, computed from its state. The head of the report and `spillway sessions` show them. */
import type { OperatorTotals, SessionState } from "../events/index.ts";
import type { Bytes, Milliseconds } from "../protocol/index.ts";
import { deathsOf } from "./deaths.ts";

interface SessionFigures {
  readonly jobs: number;
  readonly failedJobs: number;
  readonly tasks: number;
  readonly rowsOut: number;
  readonly duration: Milliseconds;
  readonly spilledBytes: Bytes;
  readonly restoredBytes: Bytes;
  /** Highest sum at one moment of the blocks in memory and the private memory of all processes. */
  readonly peakMemory: Bytes;
  readonly memoryDeaths: number;
  readonly otherDeaths: number;
  readonly oomRetries: number;
}

export function figuresOf(state: SessionState): SessionFigures {
  const jobs = [...state.jobs.values()];
  const operators = jobs.flatMap((job) => job.operators);
  const total = (figure: (operator: OperatorTotals) => number) => operators.reduce((sum, one) => sum + figure(one), 0);
  const deaths = deathsOf(state).filter(({ gone }) => gone !== null);
  const { buckets } = state.timeline;
  return {
    jobs: jobs.length + state.jobsBefore,
    failedJobs: jobs.filter(({ outcome }) => outcome === "failed").length,
    tasks: buckets.reduce((sum, bucket) => sum + bucket.tasks, 0),
    rowsOut: jobs.reduce((sum, job) => sum + (job.rows ?? job.rowsDelivered), 0),
    duration: state.at,
    spilledBytes: state.store.spilledBytes,
    restoredBytes: state.store.restoredBytes,
    peakMemory: buckets.reduce((most, { resident, privateBytes }) => Math.max(most, resident + privateBytes), 0),
    memoryDeaths: deaths.filter(({ isMemory }) => isMemory).length,
    otherDeaths: deaths.filter(({ isMemory }) => !isMemory).length,
    oomRetries: total(({ oomRetries }) => oomRetries),
  };
}
