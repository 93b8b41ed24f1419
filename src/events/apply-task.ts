/** Tasks in the reducer: formed, given to workers, counted for their operators when they are done. */
import {
  addedFigures,
  type Bytes,
  type Milliseconds,
  NO_PROGRESS,
  type RecordedEvent,
  type TaskId,
  type WorkerId,
} from "../protocol/index.ts";
import { turn } from "./apply-worker.ts";
import { type Ends, type OperatorTotals, operatorOf, type SessionState, type SoFar, type TaskView } from "./state.ts";
import { bucketAt } from "./timeline.ts";

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;
type OfTask =
  | "taskFormed"
  | "task"
  | "taskProgress"
  | "taskDone"
  | "taskCut"
  | "outputDropped"
  | "taskFailed"
  | "retry"
  | "oomRetry";

export function applyTask(state: SessionState, event: Of<OfTask>): void {
  switch (event.type) {
    case "taskFormed":
      formTask(state, event);
      return;
    case "task":
      moveTask(state, event);
      return;
    case "taskProgress":
      taskProgress(state, event);
      return;
    case "taskDone":
      taskDone(state, event);
      return;
    case "taskCut":
      taskCut(state, event);
      return;
    case "outputDropped":
      totalsOf(state, event.task, (totals) => {
        totals.blocks -= event.blocks;
      });
      return;
    case "taskFailed":
      totalsOf(state, event.task, (totals) => {
        totals.failed += 1;
      });
      return;
    case "retry":
      totalsOf(state, event.task, (totals) => {
        totals.retries += 1;
      });
      return;
    case "oomRetry":
      totalsOf(state, event.task, (totals) => {
        totals.oomRetries += 1;
      });
      return;
  }
}

function formTask(state: SessionState, event: Of<"taskFormed">): void {
  const { task: id, job, operator, index, bytesIn, repairs, at } = event;
  const isRepair = repairs !== undefined;
  state.tasks.set(id, {
    id,
    job,
    operator,
    index,
    bytesIn,
    isRepair,
    phase: "unplaced",
    since: at,
    startedAt: null,
    worker: null,
    soFar: null,
  });
  const totals = operatorOf(state, job, operator);
  if (totals === undefined) return;
  if (isRepair) totals.retries += 1;
  else {
    totals.formed += 1;
    totals.tasks = Math.max(totals.tasks, totals.formed);
  }
}

function moveTask(state: SessionState, { task: id, to, worker, at }: Of<"task">): void {
  const task = state.tasks.get(id);
  if (task === undefined) return;
  if (worker !== undefined) begin(state, task, at, worker);
  else if (to === "unplaced") leave(state, task, at);
  if (to === "over") {
    state.tasks.delete(id);
    return;
  }
  task.phase = to;
  task.since = at;
}

function begin(state: SessionState, task: TaskView, at: Milliseconds, worker: WorkerId): void {
  task.worker = worker;
  task.startedAt = at;
  const view = state.workers.get(worker);
  if (view !== undefined) {
    view.task = task.id;
    turn(view, "busy", at);
  }
  const totals = operatorOf(state, task.job, task.operator);
  if (totals === undefined || task.isRepair) return;
  totals.running += 1;
  totals.startedAt ??= at;
}

function leave(state: SessionState, task: TaskView, at: Milliseconds): void {
  if (task.worker === null) return;
  const view = state.workers.get(task.worker);
  if (view?.task === task.id) {
    view.task = null;
    if (view.phase === "busy") turn(view, "idle", at);
  }
  const totals = operatorOf(state, task.job, task.operator);
  if (totals !== undefined && !task.isRepair) {
    totals.running -= 1;
    totals.leftAt = at;
    if (task.soFar !== null && !totals.ended) count(totals.soFar, task.soFar, -1);
  }
  task.soFar = null;
  task.worker = null;
}

function taskProgress(state: SessionState, { job, tasks }: Of<"taskProgress">): void {
  for (const { task: id, ...soFar } of tasks) {
    const task = state.tasks.get(id);
    if (task === undefined || task.worker === null) continue;
    const totals = operatorOf(state, job, task.operator);
    if (totals !== undefined) totals.peakMemory = Math.max(totals.peakMemory, soFar.peakMemory);
    if (totals !== undefined && !totals.ended && !task.isRepair) {
      if (task.soFar !== null) count(totals.soFar, task.soFar, -1);
      count(totals.soFar, soFar, 1);
    }
    task.soFar = soFar;
  }
}

/** Also of a task that never reports: its worker is measured from outside. */
export function measureTask(state: SessionState, id: TaskId, memory: Bytes): void {
  const task = state.tasks.get(id);
  if (task === undefined) return;
  const soFar = task.soFar ?? NO_PROGRESS;
  task.soFar = { ...soFar, memory, peakMemory: Math.max(soFar.peakMemory, memory) };
  const totals = operatorOf(state, task.job, task.operator);
  if (totals !== undefined) totals.peakMemory = Math.max(totals.peakMemory, memory);
}

function count(into: SoFar, { rowsIn, rowsOut, bytesOut }: SoFar, times: 1 | -1): void {
  into.rowsIn += times * rowsIn;
  into.rowsOut += times * rowsOut;
  into.bytesOut += times * bytesOut;
}

function taskDone(state: SessionState, event: Of<"taskDone">): void {
  const task = state.tasks.get(event.task);
  if (task === undefined || task.isRepair) return;
  const bucket = bucketAt(state.timeline, event.at);
  bucket.tasks += 1;
  bucket.rows += event.rowsOut;
  const totals = operatorOf(state, task.job, task.operator);
  if (totals === undefined) return;
  const { ends, tasksDone } = totals;
  const others = tasksDone + totals.tasksCut;
  widen(ends.rowsOut, event.rowsOut, others);
  widen(ends.bytesOut, event.bytesOut, others);
  widen(ends.wall, event.wall, others);
  widen(ends.cpu, event.cpu, tasksDone);
  totals.tasksDone += 1;
  Object.assign(totals, addedFigures(totals, event));
  if (event.byReference === undefined) return;
  const { rows, bytes } = totals.byReference ?? { rows: 0, bytes: 0 };
  totals.byReference = { rows: rows + event.byReference.rows, bytes: bytes + event.byReference.bytes };
}

function taskCut(state: SessionState, { task: id, rows, bytes, at }: Of<"taskCut">): void {
  const task = state.tasks.get(id);
  const totals = task === undefined ? undefined : operatorOf(state, task.job, task.operator);
  if (task === undefined || totals === undefined) return;
  const wall = at - (task.startedAt ?? at);
  const { ends } = totals;
  const others = totals.tasksDone + totals.tasksCut;
  widen(ends.rowsOut, rows, others);
  widen(ends.bytesOut, bytes, others);
  widen(ends.wall, wall, others);
  totals.tasksCut += 1;
  totals.rowsOut += rows;
  totals.bytesOut += bytes;
  totals.wall += wall;
}

/** `others`: the tasks that were counted before. */
function widen(ends: Ends, value: number, others: number): void {
  ends.min = others === 0 ? value : Math.min(ends.min, value);
  ends.max = Math.max(ends.max, value);
}

function totalsOf(state: SessionState, id: TaskId, change: (totals: OperatorTotals) => void): void {
  const task = state.tasks.get(id);
  if (task === undefined) return;
  const totals = operatorOf(state, task.job, task.operator);
  if (totals !== undefined) change(totals);
}
