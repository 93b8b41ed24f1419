/** The last line of every program. */
import type { ProgramReport } from "../workload.ts";

export function report(figures: ProgramReport): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
