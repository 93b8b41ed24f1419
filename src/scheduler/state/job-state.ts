/** A running job: its operators, and what each room keeps of it. Plain data. */

import type { WireError } from "../../errors/index.ts";
import type { JobId, JobPhase, JobSpec, Milliseconds } from "../../protocol/index.ts";
import type { Holder } from "../../store/index.ts";
import { type JobOutput, newJobOutput } from "./flow-state.ts";
import { type JobReport, newJobReport } from "./jobs-state.ts";
import { type JobMemory, newJobMemory } from "./memory-state.ts";
import type { OperatorState } from "./operator-state.ts";
import { type JobPhases, newJobPhases } from "./phases-state.ts";
import { type JobPlacement, newJobPlacement } from "./placement-state.ts";
import type { State } from "./state.ts";

export interface JobState {
  readonly id: JobId;
  readonly spec: JobSpec;
  readonly operators: OperatorState[];
  /** How many of them hand over blocks. */
  blockOperators: number;
  readonly startedAt: Milliseconds;
  /** The order of starting. */
  readonly order: number;
  readonly holders: JobHolders;
  /** Written by `moveJob` alone (phases/job.ts). */
  phase: JobPhase;
  /** Why it fails; written by `failJob` alone (phases/failing.ts). */
  error: WireError | null;
  readonly phases: JobPhases;
  readonly output: JobOutput;
  readonly report: JobReport;
  readonly memory: JobMemory;
  readonly placement: JobPlacement;
}

/** Holders of references in the ledger. */
interface JobHolders {
  readonly queues: Holder;
  /** Inputs of its tasks. */
  readonly tasks: Holder;
  /** What the job reads. */
  readonly inputs: Holder;
  /** Blocks that wait without flowing: input that is kept in case a task dies, and output of wide tasks. */
  readonly kept: Holder;
}

/** A job without operators; `order`: the order of starting. */
export function newJob({ now }: State, spec: JobSpec, order: number): JobState {
  const { id, operators } = spec;
  return {
    id,
    spec,
    operators: [],
    blockOperators: operators.filter((one) => one.kind === "tasks" && one.sink.kind === "blocks").length,
    startedAt: now,
    order,
    holders: { queues: `job:${id}`, tasks: `task:${id}`, inputs: `input:${id}`, kept: `kept:${id}` },
    phase: "running",
    error: null,
    phases: newJobPhases(),
    output: newJobOutput(now),
    report: newJobReport(now),
    memory: newJobMemory(),
    placement: newJobPlacement(),
  };
}
