/** What programs get for a workload at a scale: the work itself, and first the same work on a thousand rows. */
import { join } from "node:path";
import type { MadeTables } from "../data/index.ts";
import type { Assignment, Bytes, Workload } from "../workload.ts";

export interface AssignmentOptions {
  readonly workload: Workload;
  readonly files: MadeTables;
  readonly warmUpFiles: MadeTables;
  readonly cores: number;
  readonly box: Bytes | null;
  /** An empty directory for what the program writes. */
  readonly written: string;
}

/** Rows of lineitem in the files of a warm-up. */
export const WARM_UP_ROWS = 1000;
const WARM_UP_TASKS = 8;

export function assign({ workload, files, warmUpFiles, cores, box, written }: AssignmentOptions): Assignment {
  const { rows, tasks = 0, query = "" } = workload;
  return {
    cores,
    box,
    warmUp: {
      rows: Math.min(rows, tasks === 0 ? WARM_UP_ROWS : WARM_UP_TASKS),
      tasks: Math.min(tasks, WARM_UP_TASKS),
      query,
      files: warmUpFiles,
      written: join(written, "warm-up"),
    },
    job: { rows, tasks, query, files, written: join(written, "result") },
  };
}
