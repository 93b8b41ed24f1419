/** Builds the chain of links of one task, from its sink back to its first step after the source. */
import type { Connection } from "../kernel/index.ts";
import { type BlockShape, fillPlaceholders, numberedTables, type Step, type TaskOrder } from "../protocol/index.ts";
import type { Link, TaskScope } from "./link.ts";
import type { LoadedFunction, LoadedOperator } from "./loaded-operator.ts";
import { type BlockOutlet, BlockSink } from "./sinks/block-sink.ts";
import { CountSink, countSql } from "./sinks/count-sink.ts";
import { FileSink } from "./sinks/file-sink.ts";
import { Head } from "./sinks/head.ts";
import { ScatterSink } from "./sinks/scatter-sink.ts";
import type { TaskSink } from "./sinks/sink.ts";
import { BatchFunctionStep } from "./steps/batch-function.ts";
import { DeadLetters } from "./steps/dead-letters.ts";
import { Failures } from "./steps/failures.ts";
import { FilterFunctionStep } from "./steps/filter-function.ts";
import { FirstBatch } from "./steps/first-batch.ts";
import { GroupFunctionStep } from "./steps/group-function.ts";
import { GroupStreamStep } from "./steps/group-stream.ts";
import { RowFunctionStep } from "./steps/row-function.ts";
import { SqlStep } from "./steps/sql-step.ts";
import { UsedNames } from "./steps/used-names.ts";

export interface Chain {
  readonly first: Link;
  readonly sink: TaskSink;
  /** The link before the sink; null: there is none. */
  readonly made: Link | null;
  readonly letters: readonly DeadLetters[];
}

/** The prefix of a task's files, from its job, operator and position: a second attempt writes the same names. */
export function filePrefix(task: TaskOrder): string {
  return `part-${String(task.index).padStart(5, "0")}-${task.job}`;
}

export async function buildChain(
  task: TaskOrder,
  operator: LoadedOperator,
  /** The steps that are not part of the source's own SQL. */
  steps: readonly Step[],
  connection: Connection,
  outlet: BlockOutlet,
  scope: TaskScope,
  /** The SQL for each broadcast table. */
  broadcast: readonly string[],
  /** What feeds the chain. If it is a query and no step follows, the query itself has counted the rows. */
  fedBy: "query" | "blocks",
  /** The last function has made its first batch, if the task is to tell of it. */
  handedOn: () => void,
): Promise<Chain> {
  const counting = operator.spec.sink.kind === "count";
  const last = steps.at(-1);
  const kernelCounts = counting && (last === undefined ? fedBy === "query" : last.kind === "sql");
  const sink = makeSink(task, operator, connection, outlet, kernelCounts);
  const limit = operator.spec.maxRowsPerTask;
  const functions = await operator.functions(task.payloads);
  const letters: DeadLetters[] = [];
  let next: Link = limit === null || kernelCounts ? sink : new Head(limit, sink);
  /** The link before the sink. */
  let made: Link | null = null;
  const lastFunction = task.tellsBatch === true ? steps.findLast(({ kind }) => kind === "function") : undefined;
  for (const step of [...steps].reverse()) {
    if (step.kind === "sql") {
      const sql = fillPlaceholders(step.sql, new Map(numberedTables("b", broadcast)));
      const counted = kernelCounts && step === last ? countSql(sql) : sql;
      next = new SqlStep(operator.spec.name, counted, connection, next, scope, step.shrinks);
    } else {
      const fn = functions.get(step);
      if (fn === undefined) throw new Error(`no function was loaded for ${step.operator}`);
      const { uses } = step.options;
      if (step === lastFunction) next = new FirstBatch(next, handedOn);
      next = functionStage(fn, task, uses === undefined ? next : new UsedNames(uses, next), scope, letters);
    }
    made ??= next;
  }
  if (sink instanceof BlockSink && made instanceof BatchFunctionStep) sink.maker = made;
  return { first: next, sink, made, letters };
}

function makeSink(
  task: TaskOrder,
  operator: LoadedOperator,
  connection: Connection,
  outlet: BlockOutlet,
  kernelCounts: boolean,
): TaskSink {
  const spec = operator.spec.sink;
  // A task that failed may have left rows in it.
  operator.scratch.clear();
  switch (spec.kind) {
    case "blocks": {
      const shape = shapeOf(spec, task);
      if (shape.scatter !== undefined) {
        return new ScatterSink(operator.spec.name, shape, shape.scatter, task, outlet, operator.scratch);
      }
      return new BlockSink(operator.spec.name, shape, task, outlet, operator.scratch);
    }
    case "count":
      return new CountSink(kernelCounts ? "by the kernel" : "here");
    case "files":
      return new FileSink(spec, filePrefix(task), connection, operator.scratch);
  }
}

function shapeOf(shape: BlockShape, { blockBytes }: TaskOrder): BlockShape {
  if (blockBytes === undefined) return shape;
  const { minBytes } = shape;
  // The smallest block is at most a quarter of the largest, as in the sizes that a session begins with.
  return {
    ...shape,
    targetBytes: blockBytes,
    minBytes: minBytes === false ? false : Math.min(minBytes, blockBytes / 4),
  };
}

function functionStage(
  fn: LoadedFunction,
  task: TaskOrder,
  next: Link,
  scope: TaskScope,
  letters: DeadLetters[],
): Link {
  const { step, call, declared } = fn;
  const { options, form } = step;
  let dead: DeadLetters | null = null;
  if (typeof options.onError === "object") {
    dead = new DeadLetters(options.onError.deadLetter, `${task.job}-${task.operator}-${task.index}-${letters.length}`);
    letters.push(dead);
  }
  const failures = new Failures(step.operator, options.onError, fn.mapStack, scope, dead);
  const { passes } = options;
  const maxInFlight = Math.min(options.maxInFlight, task.maxInFlight ?? options.maxInFlight);
  if (form === "filter")
    return new FilterFunctionStep(call, options, options.reads, maxInFlight, failures, next, scope);
  if (form === "map" || form === "flatMap") {
    return new RowFunctionStep({ form, call, values: options, declared, passes, maxInFlight }, failures, next, scope);
  }
  const { batchFormat: format } = options;
  const batchSize = Math.min(options.batchSize, task.batchSize ?? options.batchSize);
  const batchFunction = { call, format, batchSize, values: options, declared, passes, maxInFlight };
  if (form === "mapGroups") {
    const Step = options.stream === true ? GroupStreamStep : GroupFunctionStep;
    return new Step({ ...batchFunction, keys: options.keys ?? [] }, failures, next, scope);
  }
  return new BatchFunctionStep(batchFunction, failures, next, scope);
}
