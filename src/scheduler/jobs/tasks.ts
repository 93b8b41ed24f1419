/** A task's life: sent to a worker, ended, run again, or cancelled. forming.ts makes tasks. */

import { StoreError, toWire, type WireError } from "../../errors/index.ts";
import { kernelLease } from "../../memory/index.ts";
import {
  type ArenaRange,
  type BlockRef,
  type Bytes,
  type LearnedNeed,
  NO_PROGRESS,
  type TaskInput,
  type TaskOperator,
  type TaskOrder,
  type TaskReport,
  type ToldProgress,
  type TypeFamily,
  type WorkerOperator,
} from "../../protocol/index.ts";
import {
  checkWritten,
  comesAgain,
  dropBroadcast,
  dropTask,
  endIfDone,
  feedRead,
  feedTask,
  giveBackGrant,
  goesOnLater,
  grantUsed,
  handOver,
  isStillLost,
  pinAll,
  repaired,
  repairOver,
  retire,
  reveal,
  stopFeeding,
  taskOver,
  unpinAll,
} from "../flow/index.ts";
import {
  firstBatchTook,
  heapOf,
  mayTry,
  mostFor,
  taskBegins,
  taskHas,
  taskLeft,
  taskTookAndLeft,
} from "../memory/index.ts";
import { callsAtOnce, NO_NEED } from "../needs/index.ts";
import { countCrash, deathError, leaseAlone, oomCause, ranOutOfMemory } from "../oom/index.ts";
import { failJob, knowOperator, moveTask, moveWay, moveWorker } from "../phases/index.ts";
import { claim, giveBack } from "../resources/index.ts";
import type { Event, WorkerEnd } from "../state/index.ts";
import {
  filesRead,
  note,
  type OperatorState,
  type State,
  send,
  type TaskSource,
  type TaskState,
  type WorkerState,
} from "../state/index.ts";
import { turns } from "./other-way.ts";

/** Blocks that a task which scatters builds at once: as in the sizes of blocks that the session begins with. */
const SCATTERED = 4;

/** All that it reads is in memory. */
export function startTask(state: State, task: TaskState, spec: TaskOperator, worker: WorkerState): void {
  const { operator, repairs } = task;
  const { job } = operator;
  if (!operator.phases.workers.has(worker)) {
    knowOperator(worker, operator);
    send(state, worker, { type: "operator", job: job.id, operator: forWorkers(spec) });
  }
  task.worker = worker;
  task.run.need = needOf(task);
  task.run.blockBytes = blockBytesOf(state, task, spec);
  task.run.startedAt = state.now;
  task.run.progress = null;
  task.run.startedWith = worker.memory.reading?.private ?? null;
  claim(state, task, worker);
  taskBegins(worker);
  const mostMemory = mostFor(state, worker, operator);
  const isTried = repairs === null && mayTry(state, operator);
  moveTask(state, task, "running");
  if (repairs === null) operator.budget.estimate.began(task.output);
  job.report.changed = true;
  moveWorker(state, worker, "busy");
  worker.task = task;
  const ranges = pinAll(state, task);
  const { id, index } = task;
  const { attempt } = task.oom;
  const { source: input } = task.input;
  const { handedOver } = task.output;
  const order: TaskOrder = {
    id,
    job: job.id,
    operator: spec.id,
    index,
    attempt,
    input: placed(input, spec, ranges),
    payloads: ranges.slice(ranges.length - operator.input.payloads.length),
    broadcast: broadcastOf(operator, ranges),
    handedOver: [...handedOver],
    devices: state.resources.devices.count === 0 ? null : task.resources.devices,
    ...(task.run.need?.batchSize == null ? {} : { batchSize: task.run.need.batchSize }),
    ...(task.run.blockBytes === null ? {} : { blockBytes: task.run.blockBytes }),
    ...fewerCalls(spec, task.run.need),
    ...(task.oom.blamesRows ? { blamesRows: true } : {}),
    ...(isTried ? { tellsBatch: true } : {}),
    ...(mostMemory === null ? {} : { mostMemory }),
    ...leaseOf(state, worker, task),
    ...(repairs === null ? {} : { repair: repairs.flow.recipe.number }),
  };
  send(state, worker, { type: "run", task: order });
  if (task.input.feed !== null) feedTask(state, task, "cold");
}

function forWorkers(spec: TaskOperator): WorkerOperator {
  const { id, name, steps, sink, maxRowsPerTask, setsOrder, broadcast, otherWay } = spec;
  const way = otherWay === undefined ? {} : { otherWay };
  return { id, name, steps, sink, maxRowsPerTask, setsOrder, broadcast, ...way };
}

/** The need as learned by now; but the batch size stays once a block was made from such batches. */
function needOf({ operator, run: { need }, output: { handedOver }, repairs }: TaskState): LearnedNeed | null {
  if (handedOver.length === 0 && repairs === null) return operator.needs.learned;
  return { ...(operator.needs.learned ?? NO_NEED), batchSize: need?.batchSize ?? null };
}

/** The same for the size of its blocks. Many blocks of a task that scatters are built at the same time. */
function blockBytesOf(
  state: State,
  { run, output: { handedOver }, repairs }: TaskState,
  spec: TaskOperator,
): Bytes | null {
  if (handedOver.length > 0 || repairs !== null) return run.blockBytes;
  const { block } = state.memory.share.inForce;
  if (block === null || spec.place === "wide" || spec.sink.kind !== "blocks") return null;
  const most = spec.sink.scatter === undefined ? block : Math.floor(block / SCATTERED);
  return most < spec.sink.targetBytes ? most : null;
}

function fewerCalls({ steps }: TaskOperator, need: LearnedNeed | null): Pick<TaskOrder, "maxInFlight"> {
  const most = Math.max(0, ...steps.map((step) => (step.kind === "function" ? step.options.maxInFlight : 0)));
  const maxInFlight = need === null || most === 0 ? null : callsAtOnce(need, most);
  return maxInFlight === null ? {} : { maxInFlight };
}

/** The kernel may use more in a raised worker, and for a task that is alone because a kernel ran out of memory. */
function leaseOf(
  state: State,
  { memory: { limit: memory } }: WorkerState,
  { operator, run: { need } }: TaskState,
): Pick<TaskOrder, "lease"> {
  if (need?.alone === true && operator.needs.kernelRanOut) return { lease: leaseAlone(state) };
  return memory > state.memory.workerMemory ? { lease: kernelLease(memory, 1) } : {};
}

function broadcastOf(
  { input: { broadcast, payloads } }: OperatorState,
  ranges: readonly ArenaRange[],
): TaskOrder["broadcast"] {
  let at = ranges.length - payloads.length - broadcast.reduce((sum, table) => sum + table.length, 0);
  return broadcast.map((table) =>
    table.map(({ start, end }) => {
      const range = ranges[at++];
      if (range === undefined) throw new Error("a broadcast block that is not pinned");
      return { range, start, end };
    }),
  );
}

function placed(input: TaskSource, spec: TaskOperator, ranges: readonly ArenaRange[]): TaskInput {
  if (input.kind === "fed") {
    if (spec.input.kind !== "fed") return { kind: "fed", tables: [] };
    const { tables, reads } = spec.input;
    return {
      kind: "fed",
      tables: tables.map(({ columns }) => columns),
      ...(tables.some(({ sees }) => sees !== undefined) && { sees: tables.map(({ sees }) => sees ?? null) }),
      ...(reads !== undefined && { reads }),
    };
  }
  if (input.kind !== "blocks") return input;
  const slices = input.slices.map(({ start, end }, i) => {
    const range = ranges[i];
    if (range === undefined) throw new Error("a slice of a block that is not pinned");
    return { range, start, end };
  });
  return { kind: "blocks", slices };
}

/** The task has written the block it was given room for. */
export function taskOutput(
  state: State,
  task: TaskState,
  output: {
    readonly length: number;
    readonly rows: number;
    readonly checksum: number;
    readonly partition?: number;
    readonly columns?: readonly string[];
    readonly types?: readonly TypeFamily[];
  },
): void {
  const { operator } = task;
  const { granted } = task.output;
  if (granted === null || output.length > granted.length) {
    const had = granted === null ? "no room" : `room for ${granted.length} bytes`;
    const error = new StoreError(`${operator.spec.name} wrote a block of ${output.length} bytes, having ${had}.`);
    failJob(state, operator.job, toWire(error));
    return;
  }
  if (task.cancel.at !== null) {
    giveBackGrant(state, task);
    return;
  }
  if (task.repairs !== null) {
    repaired(state, task);
    return;
  }
  const { length, rows, checksum } = output;
  const maker = task.worker?.id ?? null;
  const holder = operator.job.holders.queues;
  const block: BlockRef = state.ledger.seal(granted, length, rows, checksum, holder, maker);
  note(state, { type: "blockMade", block: block.id, bytes: length, rows, task: task.id, worker: maker });
  grantUsed(task, granted, { rows, length, checksum });
  operator.job.report.changed = true;
  handOver(state, task, block, output, output.partition ?? null);
}

/** The task has read the oldest block that it was fed. */
export function taskFed(state: State, task: TaskState): void {
  feedRead(state, task);
  task.operator.job.report.changed = true;
}

/** What a running task has done so far: counted as long as it runs, its report replaces it. */
export function taskProgressed(
  state: State,
  task: TaskState,
  { rowsIn, rowsOut, bytesOut, share, peakMemory }: ToldProgress,
): void {
  const { report } = task.operator.job;
  const { memory, peakMemory: seen } = task.run.progress ?? NO_PROGRESS;
  task.run.progress = { rowsIn, rowsOut, bytesOut, share, memory, peakMemory: Math.max(seen, peakMemory) };
  report.changed = true;
  report.progressed.add(task);
  taskHas(state, task, peakMemory);
}

/** Its functions have handed on their first batch. */
export function taskTried(state: State, task: TaskState, peak: Bytes, added: Bytes): void {
  firstBatchTook(state, task, peak, added);
}

/** Memory was read: what a worker has, its child processes included, is its task's. */
export function tasksMeasured(state: State): void {
  const { wide } = state.phases;
  for (const worker of state.workers.values()) taskMeasured(state, worker);
  if (wide !== null) taskMeasured(state, wide);
}

function taskMeasured(state: State, { task, memory: { reading } }: WorkerState): void {
  if (task === null || reading === null) return;
  const soFar = task.run.progress ?? NO_PROGRESS;
  const { private: memory } = reading;
  task.run.progress = { ...soFar, memory, peakMemory: Math.max(soFar.peakMemory, memory) };
  task.operator.job.report.progressed.add(task);
  taskHas(state, task, memory);
}

/** A worker does not see its child processes, which the readings of its memory include. */
export function taskDone(state: State, task: TaskState, told: TaskReport, left: Bytes): void {
  const unseen = Math.max(0, (task.run.progress?.peakMemory ?? 0) - told.peakMemory);
  const report = { ...told, peakMemory: told.peakMemory + unseen, addedMemory: told.addedMemory + unseen };
  const { operator } = task;
  operator.job.report.changed = true;
  if (task.cancel.at === null) {
    resultOf(operator, report);
    noteDone(state, task, report);
    operator.budget.estimate.done(task.output);
    if (report.written !== undefined) checkWritten(state, operator, report.written);
  }
  if (task.worker !== null) taskTookAndLeft(state, task.worker, operator, report, left);
  leaveWorker(state, task);
  if (task.cancel.at === null) {
    if (operator.way.kind === "undecided") moveWay(state, operator, { kind: "kernel" });
    reveal(state, task);
  }
  forget(state, task);
}

function resultOf({ result }: OperatorState, { rowsOut, files }: TaskReport): void {
  result.rows += rowsOut;
  result.files.push(...files);
}

function noteDone(state: State, { id }: TaskState, report: TaskReport): void {
  const { files, written, kernel, ...figures } = report;
  note(state, { type: "taskDone", task: id, ...figures });
}

/** The task answered a cancel. */
export function taskStopped(state: State, task: TaskState): void {
  leaveWorker(state, task);
  if (!resumesLater(state, task)) forget(state, task);
}

/** The task has stood back, and is run again later. */
function resumesLater(state: State, task: TaskState): boolean {
  if (!task.cancel.standsBack || !isStillWanted(state, task)) return false;
  goesOnLater(task);
  unpinAll(state, task);
  if (state.placement.yieldsTo === null) comesAgain(state, task);
  else moveTask(state, task, "aside");
  return true;
}

export function taskFailed(
  state: State,
  task: TaskState,
  error: WireError,
  { oomKill, scene }: Pick<Extract<Event, { type: "fromWorker" }>, "oomKill" | "scene">,
): void {
  const { operator, worker } = task;
  const { job } = operator;
  leaveWorker(state, task);
  if (task.cancel.at === null && isStillWanted(state, task)) {
    const cause = oomCause({ error }) ?? oomKill ?? null;
    const evidence = scene === undefined ? { error } : { error, scene };
    const lack = cause === null || worker === null ? error : ranOutOfMemory(state, task, worker, cause, evidence);
    if (lack === null || turns(state, task, lack)) return;
    const told = { name: lack.name, message: lack.message };
    note(state, { type: "taskFailed", task: task.id, files: filesRead(task.input.source), error: told });
    const tolerated = lack.name === "FunctionError" && job.report.erroredTasks < job.spec.maxErroredBlocks;
    job.report.erroredTasks += 1;
    unpinAll(state, task);
    if (!tolerated) failJob(state, job, lack);
  }
  forget(state, task);
}

/** The task's worker died: the task runs again and keeps what it has handed over, or its job fails. */
export function taskDied(state: State, task: TaskState, worker: WorkerState, end: WorkerEnd): void {
  const { operator } = task;
  leaveWorker(state, task);
  if (resumesLater(state, task)) return;
  if (task.cancel.at !== null || !isStillWanted(state, task)) {
    forget(state, task);
    return;
  }
  const cause = oomCause({ end });
  const error =
    cause === null ? crashed(state, task, worker, end) : ranOutOfMemory(state, task, worker, cause, { end });
  if (error === null || turns(state, task, error)) return;
  unpinAll(state, task);
  failJob(state, operator.job, error);
  forget(state, task);
}

function isStillWanted(state: State, task: TaskState): boolean {
  const { operator, repairs } = task;
  return repairs === null ? !operator.ended : operator.job.phase === "running" && isStillLost(state, task);
}

/** Null: the task is run again. */
function crashed(state: State, task: TaskState, worker: WorkerState, end: WorkerEnd): WireError | null {
  const { operator } = task;
  const { shortages } = task.oom;
  const { spec } = operator;
  countCrash(state, task, worker, end);
  const crashes = task.oom.attempt - shortages.length;
  if (spec.kind === "tasks" && crashes <= spec.maxRetries) {
    const { id } = task;
    const { attempt } = task.oom;
    const files = filesRead(task.input.source);
    note(state, { type: "retry", task: id, operator: spec.name, worker: worker.id, files, attempt, reason: end.cause });
    comesAgain(state, task);
    return null;
  }
  return toWire(deathError(spec.name, worker.pid, end, crashes, heapOf(state, worker)));
}

/** The task has left its worker, in whatever way: a granted range that was not sealed is free again. */
function leaveWorker(state: State, task: TaskState): void {
  const { operator, worker } = task;
  moveTask(state, task, "unplaced");
  giveBackGrant(state, task);
  giveBack(state, task);
  stopFeeding(state, task);
  operator.job.report.progressed.delete(task);
  if (task.repairs === null) operator.budget.estimate.left(task.output);
  task.worker = null;
  if (worker === null) return;
  worker.task = null;
  taskLeft(worker, operator);
  if (worker.phase === "busy") moveWorker(state, worker, "idle");
}

function forget(state: State, task: TaskState): void {
  const { operator } = task;
  dropTask(state, task);
  if (task.repairs === null) taskOver(state, operator, task.index);
  else repairOver(state, task);
  if (operator.ended) {
    dropBroadcast(state, operator);
    retire(state, operator);
  } else endIfDone(state, operator);
}
