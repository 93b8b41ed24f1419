/** The session's settings that decide how a plan is cut into stages. */
import type { Describe, Plan } from "../plan/index.ts";
import type { Bytes } from "../protocol/index.ts";

export interface Planning {
  /** The sink takes rows itself (files, a count), so the last stage must have tasks. */
  readonly takesRows: boolean;
  /**
   * Sorts, groups and joins run by partitions of the rows, each in a worker, instead of in one kernel with all threads.
   */
  readonly exchange: boolean;
  readonly workers: number;
  /** The capacity of the store. */
  readonly capacity: Bytes;
  /** When the call began, by `performance.now()`; see `ScanRequest.since`. */
  readonly since?: number;
  /** How much memory the kernel of a worker may use; null: no limit. */
  readonly workerKernel: Bytes | null;
  /** What a task that scatters rows to partitions holds before it hands on its blocks. */
  readonly scattered: Bytes;
  /** Bytes of plans whose rows were made already. */
  readonly known: ReadonlyMap<Plan, Bytes>;
  /** Null: types of columns are left to the kernel. */
  readonly describe: Describe | null;
}

export const plainly: Planning = {
  takesRows: false,
  exchange: false,
  workers: 1,
  capacity: Number.POSITIVE_INFINITY,
  workerKernel: null,
  scattered: Number.POSITIVE_INFINITY,
  known: new Map(),
  describe: null,
};
