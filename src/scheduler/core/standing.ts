/**
 * The phases of everything, from the scheduler's own state. A reader of its event stream must arrive at the same
 * phases.
 */
import type { BlockId, BlockState, JobPhase, TaskId, TaskPhase, WorkerId, WorkerPhase } from "../../protocol/index.ts";
import type { JobState, OperatorState, State, TaskState } from "../state/index.ts";

export interface Standing {
  readonly workers: ReadonlyMap<
    WorkerId,
    { readonly phase: WorkerPhase; readonly pid: number; readonly task: TaskId | null }
  >;
  readonly tasks: ReadonlyMap<TaskId, { readonly phase: TaskPhase; readonly worker: WorkerId | null }>;
  readonly jobs: ReadonlyMap<string, JobStanding>;
  readonly blocks: ReadonlyMap<BlockId, BlockState>;
}

interface JobStanding {
  readonly phase: JobPhase;
  readonly operators: readonly {
    readonly ended: boolean;
    readonly heldBy: string | null;
  }[];
}

export function standingOf(state: State): Standing {
  const { workers, jobs, ledger } = state;
  const { wide } = state.phases;
  const all = wide === null ? [...workers.values()] : [...workers.values(), wide];
  const tasks = [...jobs.values()].flatMap((job) => job.operators.flatMap(tasksOf));
  return {
    workers: new Map(all.map(({ id, phase, pid, task }) => [id, { phase, pid, task: task?.id ?? null }])),
    tasks: new Map(
      [...tasks, ...state.phases.repairs].map(({ id, phase, worker }) => [id, { phase, worker: worker?.id ?? null }]),
    ),
    jobs: new Map([...jobs.values()].map((job) => [job.id, jobStanding(job)])),
    blocks: new Map(ledger.states()),
  };
}

function tasksOf({
  phases: { running, again, fetching, aside, resting, repairing },
}: OperatorState): readonly TaskState[] {
  return [...running.values(), ...again, ...fetching, ...aside, ...resting, ...repairing];
}

function jobStanding({ phase, operators }: JobState): JobStanding {
  return {
    phase,
    operators: operators.map(({ ended, heldBy }) => ({ ended, heldBy })),
  };
}
