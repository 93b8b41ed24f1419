/**
 * The scheduler: `(state, event) → commands`. No clock, no I/O, no randomness: time comes with the events, and the same
 * events give the same commands. The supervisor runs it with real workers, the simulator with invented ones.
 *
 *   event ──▶ its handler changes the state ──▶ settle: ┌▶ deliver what the program has credit for
 *                                                      │  give room (room.ts), start tasks (dispatch.ts)
 *                                                      │  resolve a stall (stall.ts) ── changed something ─┐
 *                                                      └───────────────────────────────────────────────────┘
 *                                                      then finished jobs end (job.ts) ──▶ commands
 */

import type { Bytes, Milliseconds, RecordedEvent, WorkerId } from "../../protocol/index.ts";
import type { Ledger } from "../../store/index.ts";
import {
  blockDamaged,
  blockNotRestored,
  blockRestored,
  deliverOutput,
  feedTask,
  taskFed,
  yields,
} from "../flow/index.ts";
import {
  endFailing,
  inspectionAnswered,
  inspectionDied,
  jobCommitted,
  jobDiscarded,
  settleJob,
  taskDied,
  taskDone,
  taskFailed,
  taskOutput,
  taskStopped,
  tellProgress,
} from "../jobs/index.ts";
import {
  addWorker,
  containerHolds,
  containerSpent,
  dismiss,
  heapTold,
  lower,
  memoryRead,
  pauseDeadline,
  raisedStarting,
  replaceUnfit,
  reportPauses,
  settleAlone,
  settleLease,
  settleTrims,
  stopping,
  trimDeadline,
  trimmed,
  watchNode,
  withoutTask,
  workerOf,
} from "../memory/index.ts";
import { cannotStart, diedEvent, endResting, failIfNoneIsLeft, restDeadline, workersDoNotStart } from "../oom/index.ts";
import { moveTask, moveWorker, phaseFaults } from "../phases/index.ts";
import {
  askForRoom,
  dispatch,
  endStandingBack,
  grantRoom,
  noteHeldBack,
  passTime,
  resolveStall,
  stallDeadline,
  startWide,
  yieldDeadline,
} from "../placement/index.ts";
import { instanceGone, workerLost } from "../resources/index.ts";
import {
  isComplete,
  openStarts,
  releaseDue,
  replenish,
  startDeadline,
  workComes,
  workDone,
  workerConnected,
  workerEnded,
} from "../starts/index.ts";
import {
  CANCEL_GRACE,
  type Command,
  type Event,
  failJob,
  isWide,
  note,
  PROGRESS_INTERVAL,
  passNotice,
  type SchedulerOptions,
  type State,
  type TaskMessage,
  type TaskState,
  tellNotice,
  type WorkerEnd,
  type WorkerState,
  watch,
  YIELD_GRACE,
} from "../state/index.ts";
import { blocksNotSpilled, blocksSpilled, diskDeadline, spillOverTarget, spillUnderPressure } from "../store/index.ts";
import { newState } from "./new-state.ts";
import { noteGone, noteMemory } from "./noting.ts";
import { fromProgram } from "./program.ts";
import { type Standing, standingOf } from "./standing.ts";

const NO_EVENTS: readonly RecordedEvent[] = [];

export class Scheduler {
  readonly #state: State;

  constructor(options: SchedulerOptions) {
    this.#state = newState(options);
  }

  get ledger(): Ledger {
    return this.#state.ledger;
  }

  /** What has happened since they were last taken, oldest first. */
  takeEvents(): readonly RecordedEvent[] {
    const { stream } = this.#state;
    if (stream === null || stream.events.length === 0) return NO_EVENTS;
    const { events } = stream;
    stream.events = [];
    return events;
  }

  /** For tests and the simulation: what the event stream must come to. */
  standing(): Standing {
    return standingOf(this.#state);
  }

  /** For tests and the simulation: see phases/faults.ts. */
  faults(): readonly string[] {
    return phaseFaults(this.#state);
  }

  /** All wanted workers have connected, except those that wait until a pause is over. */
  get isComplete(): boolean {
    return isComplete(this.#state);
  }

  get jobs(): number {
    return this.#state.jobs.size;
  }

  /** When to send a `tick` if nothing else happens before. */
  get alarmAt(): Milliseconds | null {
    const state = this.#state;
    let at = Math.min(
      stallDeadline(state),
      diskDeadline(state),
      restDeadline(state),
      pauseDeadline(state),
      trimDeadline(state),
      yieldDeadline(state),
      startDeadline(state),
    );
    for (const task of state.phases.cancelling) {
      at = Math.min(at, cancelDeadline(task));
      if (!isWide(task.operator)) break;
    }
    for (const job of state.jobs.values()) {
      if (job.report.changed && !job.report.told) at = Math.min(at, job.report.progressAt + PROGRESS_INTERVAL);
    }
    return at === Number.POSITIVE_INFINITY ? null : at;
  }

  handle(event: Event, now: Milliseconds): Command[] {
    const state = this.#state;
    passTime(state, now - state.now);
    state.now = now;
    if (state.stream !== null) state.stream.at = Math.round(now * 10) / 10;
    state.ledger.tick();
    receive(state, event);
    endFailing(state);
    settle(state);
    noteHeldBack(state);
    const places = state.ledger.takeOrphans();
    if (places.length > 0) state.commands.push({ type: "unspill", places });
    return state.commands.splice(0);
  }
}

function settle(state: State): void {
  endResting(state);
  // Leases come first: otherwise tasks that ask for room would always get the lent memory.
  settleLease(state);
  releaseDue(state);
  failIfNoneIsLeft(state);
  reportPauses(state);
  settleTrims(state);
  replaceUnfit(state);
  let jobs: number;
  do {
    do {
      endFailing(state);
      state.store.spokenFor = 0;
      endStandingBack(state);
      for (const task of state.phases.feeding) if (!yields(state, task)) feedTask(state, task, "cold");
      for (const job of state.jobs.values()) deliverOutput(state, job);
      // Before room is given: an operator that must wait for the kernel no longer holds up tasks that ask for room.
      startWide(state);
      grantRoom(state);
      // Before tasks start: a task that starts in a worker keeps it, and the next task would do the same.
      lower(state);
      dispatch(state);
      spillOverTarget(state);
    } while (state.phases.failing.length > 0 || resolveStall(state));
    jobs = state.jobs.size;
    for (const job of state.jobs.values()) settleJob(state, job);
    // Another job may wait for what an ended job has released.
  } while (state.jobs.size < jobs);
  for (const job of state.jobs.values()) tellProgress(state, job);
  for (const task of state.phases.cancelling) {
    const { worker } = task;
    if (state.now < cancelDeadline(task)) {
      // The wide kernel's task has more time to answer than the other cancelled tasks.
      if (isWide(task.operator)) continue;
      break;
    }
    moveTask(state, task, "killing");
    if (worker !== null) state.commands.push({ type: "kill", worker: worker.id, reason: "unresponsive" });
  }
  settleAlone(state);
  dismissExtraWorkers(state);
  replenish(state);
}

function cancelDeadline({ cancel: { at: cancelledAt, standsBack }, operator }: TaskState): Milliseconds {
  return (cancelledAt ?? 0) + (standsBack && isWide(operator) ? YIELD_GRACE : CANCEL_GRACE);
}

function dismissExtraWorkers(state: State): void {
  if (state.workers.size <= state.options.workers) return;
  let extra = state.workers.size - state.options.workers;
  for (const worker of state.workers.values()) if (worker.phase === "stopping") extra -= 1;
  for (const worker of withoutTask(state)) {
    if (extra <= 0) return;
    if (worker.knows.size > 0) continue;
    extra -= 1;
    dismiss(state, worker);
  }
}

function receive(state: State, event: Event): void {
  switch (event.type) {
    case "open":
      openStarts(state);
      return;
    case "workerStarting":
      if (event.memory !== undefined) raisedStarting(state, event.memory);
      addWorker(state, event.worker, event.memory ?? state.memory.workerMemory, event.isWide === true);
      return;
    case "workerReady":
      workerReady(state, event.worker, event.pid);
      return;
    case "workerGone":
      workerGone(state, event.worker, event.end);
      return;
    case "workersUnavailable":
      cannotStart(state, event.error);
      return;
    case "workersAsked":
      workComes(state);
      return;
    case "fromWorker": {
      const worker = workerOf(state, event.worker);
      if (worker !== undefined) fromWorker(state, worker, event);
      return;
    }
    case "fromProgram":
      fromProgram(state, event.message);
      return;
    case "committed": {
      const job = state.jobs.get(event.job);
      if (job !== undefined) jobCommitted(state, job, event.error);
      return;
    }
    case "discarded": {
      const job = state.jobs.get(event.job);
      if (job !== undefined) jobDiscarded(state, job);
      return;
    }
    case "spilled":
      blocksSpilled(state, event.blocks);
      spillUnderPressure(state);
      return;
    case "notSpilled":
      blocksNotSpilled(state, event.blocks, event.error);
      return;
    case "restored":
      blockRestored(state, event.block);
      return;
    case "notRestored":
      blockNotRestored(state, event.block, event.error);
      return;
    case "damaged":
      blockDamaged(state, event.block, event.error);
      return;
    case "memory":
      memoryRead(state, event);
      noteMemory(state);
      return;
    case "nodeMemory":
      note(state, { type: "node", used: event.used, total: event.total });
      watchNode(state, { used: event.used, total: event.total });
      return;
    case "tick":
      return;
  }
}

function workerReady(state: State, id: WorkerId, pid: number): void {
  const worker = workerOf(state, id);
  if (worker === undefined || worker.phase !== "starting") return;
  worker.pid = pid;
  moveWorker(state, worker, "idle");
  workerConnected(state);
}

function workerGone(state: State, id: WorkerId, end: WorkerEnd): void {
  const worker = workerOf(state, id);
  if (worker === undefined) return;
  // A dismissed worker that exits is not a death.
  if (worker.phase !== "stopping" || end.cause !== "asked") watch(state, diedEvent(worker, end));
  noteGone(state, worker, end);
  if (workerEnded(state, worker, end)) cannotStart(state, workersDoNotStart(end));
  if (worker === state.phases.wide) state.phases.wide = null;
  state.workers.delete(id);
  state.memory.raised.delete(worker);
  state.memory.ending.delete(worker);
  workerLost(state, worker);
  stopping(state, worker);
  // A dead worker cannot dispose its instances: stop waiting for that.
  for (const job of state.jobs.values()) for (const operator of job.operators) operator.phases.retiring.delete(worker);
  state.ledger.forgetMaker(id);
  if (worker.task !== null) taskDied(state, worker.task, worker, end);
  inspectionDied(state, worker, end);
}

function fromWorker(state: State, worker: WorkerState, event: Extract<Event, { type: "fromWorker" }>): void {
  const { message } = event;
  switch (message.type) {
    case "inspected":
    case "refused":
      inspectionAnswered(state, worker, message);
      return;
    case "retired":
      retired(state, worker, message);
      return;
    case "notice":
      passNotice(state, message);
      return;
    case "container":
      containerHolds(state, worker, message.bytes, message.evicts);
      return;
    case "spent":
      containerSpent(state, worker);
      return;
    case "trimmed":
      if (message.request === null) trimmed(state, worker, message.report, message.heap);
      return;
    case "kernel":
      kernelHolds(state, worker, message.memory, message.spilled);
      return;
  }
  const { task } = worker;
  // A worker has one task at a time: a message about another task is out of date.
  if (task === null || task.id !== message.task) return;
  switch (message.type) {
    case "reserve":
      if (task.cancel.at === null && worker.memory.endedFor === null) askForRoom(state, task, message.bytes);
      return;
    case "output":
      taskOutput(state, task, message);
      return;
    case "fed":
      taskFed(state, task);
      return;
    case "done":
      workDone(state);
      taskDone(state, task, message.report);
      heapTold(state, worker, message.heap);
      return;
    case "failed":
      taskFailed(state, task, message.error, event);
      return;
    case "cancelled":
      taskStopped(state, task);
      return;
  }
}

/** The user is told when the kernel first has this much on disk, and at each doubling. */
const TOLD_FROM: Bytes = 64 * 2 ** 20;

function kernelHolds(state: State, worker: WorkerState, memory: Bytes, spilled: Bytes): void {
  worker.memory.kernelBytes = memory;
  const { task } = worker;
  if (task === null) return;
  const { job, spec } = task.operator;
  const before = job.memory.kernelSpilled;
  job.memory.kernelSpilled = Math.max(before, spilled);
  const toTell = Math.max(TOLD_FROM, 2 ** Math.floor(Math.log2(Math.max(1, spilled))));
  if (spilled < toTell || before >= toTell) return;
  tellNotice(state, { kind: "kernelSpilled", operator: spec.name, bytes: spilled });
}

function retired(state: State, worker: WorkerState, message: Extract<TaskMessage, { type: "retired" }>): void {
  instanceGone(state, worker, message.job, message.operator);
  const job = state.jobs.get(message.job);
  if (job === undefined) return;
  for (const operator of job.operators) {
    if (operator.spec.id === message.operator) operator.phases.retiring.delete(worker);
  }
  if (message.error !== null) failJob(state, job, message.error);
}
