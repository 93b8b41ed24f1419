/**
 * What the room `phases` keeps and alone writes: the sets that index jobs, tasks and workers by where they stand, and
 * what waits to be moved.
 */
import type { Bytes } from "../../protocol/index.ts";
import type { JobState } from "./job-state.ts";
import type { OperatorState } from "./operator-state.ts";
import type { TaskState } from "./task-state.ts";
import type { Inspection, WorkerState } from "./worker-state.ts";

/** Phases of the session. */
export interface PhasesState {
  /** Jobs that cannot go on, to be ended before anything else is decided. */
  readonly failing: JobState[];
  /** Workers that have not connected yet, and the wide kernel likewise, oldest first. */
  readonly starting: Set<WorkerState>;
  /** Workers that may have a task and have none. */
  readonly idle: Set<WorkerState>;
  /** The wide kernel, apart from the workers. */
  wide: WorkerState | null;
  /** Questions that wait for a worker. */
  readonly inspections: Inspection[];
  /** Tasks in the phase `unplaced`: only within an event. */
  readonly unplaced: Set<TaskState>;
  /** Tasks of all jobs. */
  readonly resting: Set<TaskState>;
  readonly fetching: Set<TaskState>;
  /** Running tasks that are fed. */
  readonly feeding: Set<TaskState>;
  /** Operators with tasks that wait for room, and the number of these tasks. */
  readonly askers: Set<OperatorState>;
  askingTasks: number;
  /** Lost blocks that are made again when a worker is free. */
  readonly repairs: TaskState[];
  /** Cancelled tasks, the earliest first; without those whose worker is being killed. */
  readonly cancelling: Set<TaskState>;
}

export function newPhasesState(): PhasesState {
  return {
    failing: [],
    starting: new Set(),
    idle: new Set(),
    wide: null,
    inspections: [],
    unplaced: new Set(),
    resting: new Set(),
    fetching: new Set(),
    feeding: new Set(),
    askers: new Set(),
    askingTasks: 0,
    repairs: [],
    cancelling: new Set(),
  };
}

export interface OperatorPhases {
  /** Tasks whose worker died, that stood back, or whose input has come from disk, ascending by index. */
  readonly again: TaskState[];
  /** Tasks whose input is on disk, or on its way from there. */
  readonly fetching: Set<TaskState>;
  /** Tasks that have stood back, until the task they made way for is over. */
  readonly aside: Set<TaskState>;
  /** Tasks that ran out of memory and wait a while before they run again. */
  readonly resting: Set<TaskState>;
  /** By index. */
  readonly running: Map<number, TaskState>;
  /** Running to make lost blocks again. */
  readonly repairing: Set<TaskState>;
  /** Tasks of both sets that wait for room, in the order of asking, and the room they wait for. */
  readonly asking: Set<TaskState>;
  askingBytes: Bytes;
  /**
   * Workers that have been sent the operator; the idle ones among them; those that were asked to forget it and have not
   * answered.
   */
  readonly workers: Set<WorkerState>;
  readonly idle: Set<WorkerState>;
  readonly retiring: Set<WorkerState>;
}

export function newOperatorPhases(): OperatorPhases {
  return {
    again: [],
    fetching: new Set(),
    aside: new Set(),
    resting: new Set(),
    running: new Map(),
    repairing: new Set(),
    asking: new Set(),
    askingBytes: 0,
    workers: new Set(),
    idle: new Set(),
    retiring: new Set(),
  };
}

export interface JobPhases {
  /** Its tasks with workers, and those of them that wait for room. */
  runningTasks: number;
  askingTasks: number;
}

export function newJobPhases(): JobPhases {
  return { runningTasks: 0, askingTasks: 0 };
}
