/** What an examination of a job found, as text for people and as fields for programs. */
import type { OperatorId } from "./job.ts";

export type FindingKind =
  | "backpressure"
  | "smallBlocks"
  | "largeBlocks"
  | "skew"
  | "oneTask"
  | "spilling"
  | "memory"
  | "unmanaged"
  | "function"
  | "filter"
  | "memoryRetry"
  | "retry";

export interface Finding {
  readonly kind: FindingKind;
  readonly severity: "info" | "warning" | "error";
  /** The operator that the finding is about; null when it is about the whole job. */
  readonly operator: OperatorId | null;
  readonly text: string;
  /** What to do, the most promising remedy first. */
  readonly remedies: readonly string[];
}
