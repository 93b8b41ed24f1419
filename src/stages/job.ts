/** Turns stages into the job that the supervisor runs: fills in payload references, sinks and the session's limits. */
import { type FunctionNode, functionLabel } from "../plan/index.ts";
import type {
  BlockId,
  BlockRef,
  BlockShape,
  Bytes,
  JobId,
  JobSpec,
  LearnedNeed,
  Operator,
  OperatorId,
  ResourceRequest,
  Sink,
  Step,
  TaskOperator,
} from "../protocol/index.ts";
import { mayBeCut } from "./other-way.ts";
import { assertPossible } from "./request.ts";
import type { SliceStage, StageStep, Stages, TaskStage } from "./stage.ts";

interface JobContext {
  readonly id: JobId;
  /** Sink of the last operator; all other operators make blocks. */
  readonly sink: Sink;
  /** Shape of the blocks of all operators but the last. */
  readonly blocks: BlockShape;
  /** Target size of blocks between the two halves of an exchange. */
  readonly shuffleBytes: Bytes;
  readonly workers: number;
  /** The session's total resources. */
  readonly resources: ResourceRequest;
  readonly preserveOrder: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  payloadOf(node: FunctionNode): BlockRef;
  /** The wide kernel ran out of memory for the stage in an earlier run. */
  failedBefore(stage: TaskStage): boolean;
  /** The need that an earlier run of the stage found. */
  learnedOf(stage: TaskStage): LearnedNeed | null;
  /** What a task took in an earlier run; null: unknown. */
  appetiteOf(stage: TaskStage): Bytes | null;
}

export function jobSpec({ stages }: Stages, context: JobContext): JobSpec {
  const holds = new Set<BlockId>();
  const operators = stages.map((stage, place): Operator => {
    if (stage.kind === "slice") return sliceOperator(stage, place);
    for (const block of blocksOf(stage, context)) holds.add(block);
    const last = place === stages.length - 1;
    return taskOperator(stage, place, last ? context.sink : context.blocks, context);
  });
  const { id, preserveOrder, maxErroredBlocks } = context;
  return { id, operators, preserveOrder, maxErroredBlocks, holds: [...holds] };
}

/** Drops the plan, which only explain needs. */
function sliceOperator({ kind, name, input, offset, limit }: SliceStage, id: OperatorId): Operator {
  return { kind, id, name, input, offset, limit };
}

function taskOperator(stage: TaskStage, id: OperatorId, sink: Sink, context: JobContext): Operator {
  const { kind, name, request, input, place, broadcast, setsOrder, minRowsPerTask, maxRowsPerTask, skipped } = stage;
  assertPossible(stage, context.resources);
  return {
    kind,
    id,
    name,
    request,
    input,
    ...otherWayFor(stage, context),
    place,
    broadcast,
    setsOrder,
    steps: stage.steps.map((step) => jobStep(step, context)),
    sink: sinkOf(stage, sink, context),
    concurrency: stage.concurrency ?? { min: 1, max: context.workers },
    minRowsPerTask,
    maxRowsPerTask,
    maxRetries: stage.maxRetries ?? context.maxRetries,
    maxOomRetries: stage.maxOomRetries ?? context.maxOomRetries,
    learned: context.learnedOf(stage),
    appetite: context.appetiteOf(stage),
    skipped,
  };
}

function otherWayFor(stage: TaskStage, context: JobContext): Pick<TaskOperator, "otherWay"> {
  if (stage.place !== "wide" || stage.region === null || !mayBeCut(stage.region.plan)) return {};
  return { otherWay: context.failedBefore(stage) ? "first" : "spare" };
}

function sinkOf({ scatter, blockSize, firstRows }: TaskStage, sink: Sink, { shuffleBytes }: JobContext): Sink {
  if (sink.kind !== "blocks") return sink;
  if (scatter !== null) return { ...sink, ...blockSize, scatter, targetBytes: shuffleBytes };
  return { ...sink, ...blockSize, ...(firstRows === null ? {} : { firstRows }) };
}

function jobStep(step: StageStep, context: JobContext): Step {
  if (step.kind === "sql") return step;
  const { node } = step;
  const { form, fn } = node;
  // A dead letter needs whole rows.
  const narrow = form === "filter" && fn.columns !== null && typeof node.options.onError !== "object";
  const options = narrow ? { ...node.options, reads: fn.columns } : node.options;
  const payload = context.payloadOf(node);
  return { kind: "function", operator: functionLabel(node), form, isClass: fn.isClass, payload, options };
}

function* blocksOf(stage: TaskStage, context: JobContext): Iterable<BlockId> {
  for (const step of stage.steps) if (step.kind === "function") yield context.payloadOf(step.node).id;
  if (stage.input.kind !== "splits") return;
  for (const split of stage.input.splits) {
    if (split.kind === "blocks") for (const { block } of split.slices) yield block.id;
  }
}
