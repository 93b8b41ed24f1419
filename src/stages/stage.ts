/**
 * Operators as they are planned: recipes for tasks, and slices of other operators' output. Planning goes from the
 * sources upwards: a recipe grows with every plan node that joins it (draft.ts), until it is closed (operators.ts). An
 * operator's id is its position in the list of stages.
 */
import type { FunctionNode, Plan } from "../plan/index.ts";
import type { BlockShape, OperatorId, SliceOperator, SqlStep, TaskOperator } from "../protocol/index.ts";
import type { Names } from "./needed.ts";
import type { Made, StageRead } from "./reads.ts";
import type { Select } from "./sql/select.ts";

export type StageStep = SqlStep | { readonly kind: "function"; readonly node: FunctionNode };

/** The part of a task operator that the plan alone decides; job.ts adds the rest. */
type Planned = Pick<
  TaskOperator,
  | "kind"
  | "name"
  | "input"
  | "place"
  | "broadcast"
  | "setsOrder"
  | "request"
  | "minRowsPerTask"
  | "maxRowsPerTask"
  | "skipped"
>;

/** A part of the plan that one task of the wide kernel runs. */
interface RegionPart {
  readonly plan: Plan;
  readonly needed: Names;
  /** The plans below it, which operators make for it. */
  readonly fed: readonly FedPart[];
  /** What runs it. */
  readonly select: Select;
}

export interface FedPart {
  readonly plan: Plan;
  readonly operators: readonly OperatorId[];
  /** The operators make partial aggregates of the plan's rows. */
  readonly isPartial: boolean;
}

export interface TaskStage extends Planned {
  /** The splits are blocks in the store, cut to suit the session. */
  readonly mayMerge: boolean;
  readonly steps: readonly StageStep[];
  /** SQL that is not a step yet. It takes in relational nodes until a function or the end of the stage closes it. */
  readonly select: Select;
  /** What this SELECT does, for the step's name. */
  readonly selectNames: readonly string[];
  /** This SELECT combines the rows that it gets at once into fewer rows: it is a partial aggregate. */
  readonly shrinks: boolean;
  /** All SQL so far makes one row from each row. */
  readonly keepsRows: boolean;
  /** Number of partitions that rows are scattered to; null when rows go to blocks as they come. */
  readonly scatter: number | null;
  /** Block size, if it differs from the usual size between operators. */
  readonly blockSize: Pick<BlockShape, "targetBytes" | "minBytes"> | null;
  /** The part of the plan that it runs; null: it runs something else, or only a part of that. */
  readonly region: RegionPart | null;
  /** Null: as many tasks at once as there are workers. */
  readonly concurrency: FunctionNode["concurrency"];
  /** Null: the session's setting. */
  readonly maxRetries: number | null;
  readonly maxOomRetries: number | null;
  /** Rows of a limit above this stage; null without a limit. */
  readonly firstRows: number | null;
  readonly notes: readonly string[];
  readonly reads: readonly StageRead[];
  /** Null for rows that belong to no part of the plan, such as sampled keys or bounds. */
  readonly makes: Made | null;
}

export interface SliceStage extends Omit<SliceOperator, "id"> {
  readonly makes: Made | null;
}

export type Stage = TaskStage | SliceStage;

/** Why an operation did not become part of the stage before it. */
export interface NotFused {
  readonly before: OperatorId;
  readonly reason: string;
}

export interface Stages {
  /** Inputs come before the stages that read them. The last stage makes the plan's output. */
  readonly stages: readonly Stage[];
  /** Functions that could not join the stage before them. */
  readonly notFused: readonly NotFused[];
}
