/** The command line of a worker process. */
import { fileURLToPath } from "node:url";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import type { SupervisorOptions } from "./options.ts";
import { QUIET_INSPECTOR } from "./wake-worker.ts";

/**
 * Rows are millions of short-lived strings and objects. Starting with the full young space of 16 MB, instead of growing
 * to it, makes a row function a tenth faster (`npm run bench -- --only row-function`).
 */
const YOUNG_SPACE = ["--min-semi-space-size=16"];

/** Contains no secrets, because everybody can read it. `oldSpace`: heap limit; null: V8's own. */
export function workerCommandLine(
  options: Pick<SupervisorOptions, "workerExecArgv" | "workerProgram"> & Partial<Pick<SupervisorOptions, "workerEnv">>,
  sessionDirectory: string,
  id: WorkerId,
  oldSpace: Bytes | null,
): readonly string[] {
  const { workerExecArgv, workerProgram } = options;
  const isDebugged = [...workerExecArgv, options.workerEnv?.NODE_OPTIONS ?? ""].some((one) =>
    one.includes("--inspect"),
  );
  const heap = oldSpace === null ? [] : [`--max-old-space-size=${Math.max(1, Math.floor(oldSpace / 2 ** 20))}`];
  // The worker program is in the next folder, as .js or, when run from source, as .ts.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = workerProgram ?? fileURLToPath(new URL(`../worker/main.${extension}`, import.meta.url));
  return [
    ...YOUNG_SPACE,
    ...(isDebugged ? [] : QUIET_INSPECTOR),
    ...workerExecArgv,
    ...heap,
    program,
    sessionDirectory,
    String(id),
  ];
}
