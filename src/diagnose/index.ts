/** What is wrong with a run, with numbers, and what to do about it. */
import type { Finding, JobStats } from "../protocol/index.ts";
import { diagnose } from "./diagnose.ts";
import { fromStats } from "./examined.ts";

export { diagnose, findingsText } from "./diagnose.ts";
export type { ExaminedJob, ExaminedOperator } from "./examined.ts";

export function diagnoseStats(stats: JobStats): readonly Finding[] {
  return diagnose(fromStats(stats));
}
