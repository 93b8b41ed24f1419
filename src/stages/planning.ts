/** The session's settings that decide how a plan is cut into stages. */
import type { Describe } from "../plan/index.ts";
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
  /** Null: types of columns are left to the kernel. */
  readonly describe: Describe | null;
}

export const plainly: Planning = {
  takesRows: false,
  exchange: false,
  workers: 1,
  capacity: Number.POSITIVE_INFINITY,
  describe: null,
};
