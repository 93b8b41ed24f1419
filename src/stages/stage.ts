/** What a plan is cut into: recipes for tasks, and slices of what they make. */
import type { BlockShape, FedTable, OperatorId, ResourceRequest, Skipped } from "../protocol/index.ts";
import type { StageInput, StageStep } from "./draft.ts";
import type { Made, StageRead } from "./reads.ts";

export interface TaskStage {
  readonly kind: "tasks";
  readonly id: OperatorId;
  readonly name: string;
  readonly input: StageInput;
  readonly place: "worker" | "wide";
  readonly broadcast: readonly FedTable[];
  readonly setsOrder: boolean;
  readonly steps: readonly StageStep[];
  /** Rows go to so many partitions; null: to blocks as they come. */
  readonly scatter: number | null;
  /** Blocks of another size than those between operators usually have. */
  readonly blockSize: Pick<BlockShape, "targetBytes" | "minBytes"> | null;
  readonly request: ResourceRequest;
  /** Null: as many as there are workers. */
  readonly concurrency: { readonly min: number; readonly max: number } | null;
  readonly maxRetries: number | null;
  readonly maxOomRetries: number | null;
  readonly minRowsPerTask: number;
  readonly maxRowsPerTask: number | null;
  /** Of a limit that other stages are below; null: there is none. */
  readonly firstRows: number | null;
  readonly skipped: Skipped;
  readonly notes: readonly string[];
  readonly reads: readonly StageRead[];
  readonly makes: Made | null;
}

export interface SliceStage {
  readonly kind: "slice";
  readonly id: OperatorId;
  readonly name: string;
  readonly input: { readonly kind: "operators"; readonly operators: readonly OperatorId[] };
  readonly offset: number;
  readonly limit: number | null;
  readonly makes: Made | null;
}

export type Stage = TaskStage | SliceStage;

/** Why what comes after a stage did not become a part of it. */
export interface NotFused {
  readonly before: OperatorId;
  readonly reason: string;
}

export interface Stages {
  /** Inputs before users; the last one's output is the plan's. */
  readonly stages: readonly Stage[];
  /** Functions that could not join the stage before them. */
  readonly notFused: readonly NotFused[];
}
