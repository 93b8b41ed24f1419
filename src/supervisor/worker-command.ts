/** What a worker's process is started with. */
import { fileURLToPath } from "node:url";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import { type SupervisorOptions, socketPath } from "./options.ts";

/**
 * Rows are short-lived strings and objects by the million: young space at its full 16 MB from the start, instead of
 * grown to it, takes a tenth off a row function (`npm run bench -- --only row-function`).
 */
const YOUNG_SPACE = ["--min-semi-space-size=16"];

/** `oldSpace`: the limit of its heap; null: V8's own. */
export function workerCommandLine(options: SupervisorOptions, id: WorkerId, oldSpace: Bytes | null): readonly string[] {
  const { workerExecArgv, workerProgram, token } = options;
  const heap = oldSpace === null ? [] : [`--max-old-space-size=${Math.max(1, Math.floor(oldSpace / 2 ** 20))}`];
  // Next door, under the name the compiler gives it, or as source where this is source.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = workerProgram ?? fileURLToPath(new URL(`../worker/main.${extension}`, import.meta.url));
  return [...YOUNG_SPACE, ...workerExecArgv, ...heap, program, socketPath(options), String(id), token];
}
