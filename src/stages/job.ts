/** Stages as the job that the supervisor runs: payloads by reference, sinks, limits of the session filled in. */
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
  ResourceRequest,
  Sink,
  Step,
} from "../protocol/index.ts";
import type { StageStep } from "./draft.ts";
import { assertPossible } from "./request.ts";
import type { SliceStage, Stages, TaskStage } from "./stage.ts";

export interface JobContext {
  readonly id: JobId;
  /** Of the last operator; those before it make blocks. */
  readonly sink: Sink;
  /** Of the operators before the last. */
  readonly blocks: BlockShape;
  /** Of blocks between the halves of an exchange. */
  readonly shuffleBytes: Bytes;
  readonly workers: number;
  /** All that the session has. */
  readonly resources: ResourceRequest;
  readonly preserveOrder: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  payloadOf(node: FunctionNode): BlockRef;
  /** What a run of it before has found. */
  learnedOf(stage: TaskStage): LearnedNeed | null;
}

export function jobSpec({ stages }: Stages, context: JobContext): JobSpec {
  const holds = new Set<BlockId>();
  const operators = stages.map((stage, i): Operator => {
    if (stage.kind === "slice") return sliceOperator(stage);
    for (const id of blocksOf(stage, context)) holds.add(id);
    const last = i === stages.length - 1;
    return taskOperator(stage, last ? context.sink : context.blocks, context);
  });
  const { id, preserveOrder, maxErroredBlocks } = context;
  return { id, operators, preserveOrder, maxErroredBlocks, holds: [...holds] };
}

/** Without the plan, which explain alone looks at. */
function sliceOperator({ kind, id, name, input, offset, limit }: SliceStage): Operator {
  return { kind, id, name, input, offset, limit };
}

function taskOperator(stage: TaskStage, sink: Sink, context: JobContext): Operator {
  const { id, name, input, minRowsPerTask, maxRowsPerTask, skipped } = stage;
  assertPossible(stage, context.resources);
  return {
    kind: "tasks",
    id,
    name,
    request: stage.request,
    input,
    place: stage.place,
    broadcast: stage.broadcast,
    setsOrder: stage.setsOrder,
    steps: stage.steps.map((step) => jobStep(step, context)),
    sink: sinkOf(stage, sink, context),
    concurrency: stage.concurrency ?? { min: 1, max: context.workers },
    minRowsPerTask,
    maxRowsPerTask,
    maxRetries: stage.maxRetries ?? context.maxRetries,
    maxOomRetries: stage.maxOomRetries ?? context.maxOomRetries,
    learned: context.learnedOf(stage),
    skipped,
  };
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
  // A dead letter holds the whole row.
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
