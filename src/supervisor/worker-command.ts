/** What a worker's process is started with. */
import { fileURLToPath } from "node:url";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import type { SupervisorOptions } from "./options.ts";

/**
 * Rows are short-lived strings and objects by the million: young space at its full 16 MB from the start, instead of
 * grown to it, takes a tenth off a row function (`npm run bench -- --only row-function`).
 */
const YOUNG_SPACE = ["--min-semi-space-size=16"];

/** Everybody can read it, so nothing secret is in it. `oldSpace`: the limit of its heap; null: V8's own. */
export function workerCommandLine(
  options: Pick<SupervisorOptions, "workerExecArgv" | "workerProgram">,
  sessionDirectory: string,
  id: WorkerId,
  oldSpace: Bytes | null,
): readonly string[] {
  const { workerExecArgv, workerProgram } = options;
  const heap = oldSpace === null ? [] : [`--max-old-space-size=${Math.max(1, Math.floor(oldSpace / 2 ** 20))}`];
  // Next door, under the name the compiler gives it, or as source where this is source.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = workerProgram ?? fileURLToPath(new URL(`../worker/main.${extension}`, import.meta.url));
  return [...YOUNG_SPACE, ...workerExecArgv, ...heap, program, sessionDirectory, String(id)];
}
