/** What the session has to say about how a plan is cut. */
import type { Describe } from "../plan/index.ts";
import type { Bytes } from "../protocol/index.ts";

export interface Planning {
  /** The sink looks at rows itself (files, a count), so that a task must be the last stage. */
  readonly takesRows: boolean;
  /** Sorts, groups and joins by partitions of the rows, each in a worker, instead of in one kernel with all threads. */
  readonly exchange: boolean;
  readonly workers: number;
  /** Of the store. */
  readonly capacity: Bytes;
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
