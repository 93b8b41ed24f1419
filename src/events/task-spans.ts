/**
 * Turns events into spans: each run of a task, in the lane of its worker's slot. The dashboard, reports and traces draw
 * them. A span is told when its end is known, so spans are told in the order of their ends.
 */
import type { Bytes, JobId, Milliseconds, RecordedEvent, TaskFigures, TaskId, WorkerId } from "../protocol/index.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { SessionState, TaskView } from "./state.ts";

/**
 * killed: the worker ended during the task. left: the task was no longer wanted, or stood back. open: the task is still
 * running, or its end is unknown.
 */
export type Outcome = "done" | "failed" | "killed" | "left" | "open";

export interface TaskSpan {
  readonly task: TaskId;
  readonly job: JobId;
  readonly operator: number;
  readonly index: number;
  readonly lane: Lane;
  readonly worker: WorkerId;
  /** 1, and one more for each time that the task crashed or ran out of memory before. */
  readonly attempt: number;
  readonly from: Milliseconds;
  readonly to: Milliseconds;
  readonly outcome: Outcome;
  readonly bytesIn: Bytes | null;
  readonly figures: TaskFigures | null;
}

/**
 * A task that runs, or that has left its worker and of which the next event says why. It becomes the span that is told:
 * there may be thousands a second, and copying them would cost more than all the rest.
 */
interface Open extends TaskSpan {
  figures: TaskFigures | null;
  outcome: Outcome;
  /** Not known while the task runs. */
  to: Milliseconds;
  hasLeft: boolean;
}

export class TaskSpans {
  readonly #open = new Map<TaskId, Open>();
  /** Those of them that have left their workers, all at the same time. */
  readonly #left = new Set<TaskId>();
  /** Of tasks that were run again: how often. */
  readonly #again = new Map<TaskId, number>();

  constructor(
    private readonly lanes: Lanes,
    private readonly told: (span: TaskSpan) => void,
  ) {}

  attemptOf(task: TaskId): number {
    return 1 + (this.#again.get(task) ?? 0);
  }

  /** Must see the event before it is applied to the state. */
  before(event: RecordedEvent, state: SessionState): void {
    if (this.#left.size > 0) this.#settle(event.at);
    switch (event.type) {
      case "workerStarting":
        this.lanes.take(event.worker, event.kind);
        return;
      case "workerGone":
        if (event.task !== null) this.#end(event.task, event.at, event.reason === "asked" ? "left" : "killed");
        this.lanes.leave(event.worker);
        return;
      case "task":
        this.#moves(event, state);
        return;
      case "taskDone": {
        const open = this.#open.get(event.task);
        if (open !== undefined) open.figures = event;
        return;
      }
      case "taskFailed":
        this.#end(event.task, event.at, "failed");
        return;
      case "retry":
      case "oomRetry":
        this.#end(event.task, event.at, "failed");
        this.#again.set(event.task, this.attemptOf(event.task));
        return;
    }
  }

  /**
   * Goes on from a snapshot, which repeats what is known, or brings what was missed. A run whose end was missed has no
   * span.
   */
  goOnFrom(state: SessionState): void {
    this.#settle(Number.POSITIVE_INFINITY);
    for (const { worker } of [...this.lanes.all]) {
      if (worker !== null && !state.workers.has(worker)) this.lanes.leave(worker);
    }
    for (const { id, kind } of state.workers.values()) if (this.lanes.of(id) === undefined) this.lanes.take(id, kind);
    for (const [id, { worker }] of this.#open) if (state.tasks.get(id)?.worker !== worker) this.#open.delete(id);
    for (const id of this.#again.keys()) if (!state.tasks.has(id)) this.#again.delete(id);
    for (const task of state.tasks.values()) {
      const { worker, startedAt } = task;
      if (worker !== null && startedAt !== null && !this.#open.has(task.id)) this.#begin(task, worker, startedAt);
    }
  }

  /** No more events follow: tells the spans that are still open. */
  end(at: Milliseconds): void {
    this.#settle(Number.POSITIVE_INFINITY);
    for (const id of [...this.#open.keys()]) this.#end(id, at, "open");
  }

  #moves({ task: id, to, worker, at }: Extract<RecordedEvent, { type: "task" }>, state: SessionState): void {
    const task = state.tasks.get(id);
    if (this.#left.has(id)) this.#end(id, at, "left");
    if (worker !== undefined && task !== undefined) this.#begin(task, worker, at);
    else if (to === "unplaced" || to === "over") this.#leave(id, at);
    if (to === "over") this.#again.delete(id);
  }

  #begin({ id, job, operator, index, bytesIn }: TaskView, worker: WorkerId, from: Milliseconds): void {
    const lane = this.lanes.of(worker) ?? this.lanes.take(worker, "worker");
    const attempt = this.attemptOf(id);
    this.#open.set(id, {
      task: id,
      job,
      operator,
      index,
      lane,
      worker,
      attempt,
      from,
      to: from,
      outcome: "open",
      bytesIn,
      figures: null,
      hasLeft: false,
    });
  }

  #leave(id: TaskId, at: Milliseconds): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    if (open.figures !== null) {
      this.#end(id, at, "done");
      return;
    }
    open.hasLeft = true;
    open.to = at;
    this.#left.add(id);
  }

  /** Why a task left its worker is told at the same time; of those that left before, nothing more is told. */
  #settle(now: Milliseconds): void {
    for (const id of this.#left) {
      const leftAt = this.#open.get(id)?.to ?? now;
      if (leftAt < now) this.#end(id, leftAt, "left");
    }
  }

  #end(id: TaskId, at: Milliseconds, outcome: Outcome): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    if (open.hasLeft) this.#left.delete(id);
    if (!open.hasLeft) open.to = at;
    open.outcome = outcome;
    this.told(open);
  }
}
