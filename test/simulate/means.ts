/** What a simulated session is given, and what threatens it. */

/** Probabilities, at each step at which the thing can happen. */
export interface Dangers {
  readonly death: number;
  /** That such a death is one for memory. */
  readonly oom: number;
  readonly functionError: number;
  /** The kernel runs out of memory for a wide task that has another way. */
  readonly wideFails: number;
  /** A cancelled task that never answers. */
  readonly deaf: number;
  readonly cancelJob: number;
  /** The program stops reading for a long time. */
  readonly pause: number;
  /** A write finds no room on disk; a file is not what was written; the disk takes its time. */
  readonly diskFull: number;
  readonly damage: number;
  readonly slowDisk: number;
  /** A worker ends before it has connected. */
  readonly badStart: number;
  /** A worker takes seconds to connect, up to more than it may; or it never connects. */
  readonly slowStart: number;
  readonly hangingStart: number;
}

/** Times between which no process can be started. */
export interface Broken {
  readonly from: number;
  readonly to: number;
}

export interface Means {
  readonly workers: number;
  /** How many more there may be for a while; as many as ever by default. */
  readonly extraWorkers?: number;
  readonly pages: number;
  readonly managedTarget?: number | null;
  /** Null: nobody looks at memory. */
  readonly memory?: MemoryMeans | null;
  /** Null: processes can always be started. */
  readonly broken?: Broken | null;
}

/** In bytes. */
export interface MemoryMeans {
  /** Of one worker. */
  readonly limit: number;
  readonly node: number;
  /** What a worker has before its first task. */
  readonly base: number;
  /** Shares of its limit that a task takes in the end: most tasks, some, and few. */
  readonly appetites: readonly [number, number, number];
  /** Probability that a task leaves some of that behind in its worker. */
  readonly leak: number;
  /**
   * What tasks take. "chance": as they like, step by step. "truth": all tasks of an operator the same, with their first
   * block. "lies": the same for all, or more with each task, or much more after the first tasks, late in the task.
   */
  readonly needs: "chance" | "truth" | "lies";
  /** The session is planned with all of the node; other sessions then take their part, and the program grows. */
  readonly isShared: boolean;
  /** When other sessions leave only a part of the node, and when the program holds a part of it. */
  readonly shares: readonly (readonly [at: number, part: number])[];
  readonly program: readonly (readonly [at: number, part: number])[];
  /** When the program has blocks evened out. */
  readonly rebalances: readonly number[];
}

/** Units of memory that a worker has, and all of them together. */
export const WORKER_MEMORY = 10;
export const ALL_MEMORY = 40;
export const GPUS = 2;
/** As many workers as a session ever has for a while beyond those that it is to have. */
export const MOST_EXTRA = 8;
