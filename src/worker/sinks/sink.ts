/** The end of a task's chain: what becomes of its rows, and the figures of it. */
import type { Schema } from "../../arrow/index.ts";
import type { WrittenFile } from "../../protocol/index.ts";
import type { Stage } from "../stage.ts";

export interface TaskSink extends Stage {
  readonly rows: number;
  readonly bytes: number;
  readonly files: readonly WrittenFile[];
  /** The columns of the files. */
  readonly schema?: Schema | null;
}
