/** What the last run of a dataset shows, as fields and as text. */
import { diagnoseStats, findingsText } from "../diagnose/index.ts";
import type { Finding, JobStats } from "../protocol/index.ts";
import { shownAs } from "./shown-as.ts";
import { noFigures } from "./stats.ts";

export interface Diagnosis {
  /** The most severe first; empty before the first run. */
  readonly findings: readonly Finding[];
  toString(): string;
}

/** `endedEarly`: the last run ended before it had figures. */
export function diagnosis(job: JobStats | null, endedEarly = false): Diagnosis {
  const findings = job === null ? [] : diagnoseStats(job);
  return shownAs({ findings }, () => (job === null ? noFigures(endedEarly) : findingsText(findings)));
}
