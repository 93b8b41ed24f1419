/** The end of a task's chain: what becomes of its rows, and the figures about them. */
import type { Schema } from "../../arrow/index.ts";
import type { Bytes, WrittenFile } from "../../protocol/index.ts";
import type { Link } from "../link.ts";

export interface Held {
  readonly rows: number;
  readonly bytes: Bytes;
}

export interface TaskSink extends Link {
  readonly rows: number;
  readonly bytes: number;
  /** What it has put together and not handed on yet. */
  readonly unsealed: Held;
  readonly files: readonly WrittenFile[];
  /** The columns of the files. */
  readonly schema?: Schema | null;
}
