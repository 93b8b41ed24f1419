/**
 * Finds the task that everything waits for, and makes room for it. Other tasks get none of that room, because they
 * would take it first.
 */
import { wholePages } from "../../store/index.ts";
import { advance, awaited, bringBack, feedTask, isHungry } from "../flow/index.ts";
import { isWithWorker } from "../phases/index.ts";
import { isPaused, type JobState, type State, type TaskState } from "../state/index.ts";
import { forgetReservedRoom, type Leaving, makeRoom } from "../store/index.ts";
import { promisedBefore } from "./room.ts";
import { asksOf } from "./slots.ts";
import { byUrgency, isUrgent } from "./view.ts";

/**
 * Makes room for the task that everything waits for, if it belongs to the job (null: to any job). Other tasks get none
 * of it, because they would take it first. The program comes before tasks. True if something leaves memory or comes
 * back.
 */
export function serve(state: State, only: JobState | null, leaving: Leaving): boolean {
  const jobs = only === null ? [...state.jobs.values()].filter((job) => !isPaused(job)) : [only];
  for (const job of jobs) {
    const next = awaited(job).find((id) => !state.ledger.isInMemory(id));
    if (next !== undefined && changes(state, () => bringBack(state, next, leaving))) return true;
  }
  const first = firstWaiting(state);
  if (first !== undefined && (only === null || first.operator.job === only)) {
    return changes(state, () => makeRoomFor(state, first, leaving));
  }
  const ask = only === null ? state.placement.programAsks[0] : undefined;
  return ask !== undefined && changes(state, () => makeRoom(state, wholePages(ask.bytes), leaving));
}

function makeRoomFor(state: State, task: TaskState, leaving: Leaving): void {
  if (isHungry(task)) feedTask(state, task, leaving);
  else if (task.asking === null) advance(state, task, leaving);
  // Unless promises may be broken, the task cannot use room that promises need.
  else if (leaving === "any") makeRoom(state, wholePages(task.asking.bytes), leaving);
  else if (isUrgent(task))
    makeRoom(state, wholePages(task.asking.bytes) + promisedBefore(state, task.operator, task.index), leaving);
}

/** The task that everything waits for. If others have stood back for a task, it is that task until it is over. */
export function firstWaiting(state: State): TaskState | undefined {
  const { yieldsTo } = state.placement;
  const waiting = waitingTasks(state);
  if (yieldsTo === null || !isUnderWay(yieldsTo)) return waiting[0];
  // The task may have all of its input and wait for a worker: no other task is served before it.
  return waiting.find((task) => task === yieldsTo);
}

export function waitingTasks(state: State): TaskState[] {
  return [...asksOf(state, null), ...fetchesOf(state)].sort(byUrgency);
}

/** Tasks whose input must come from disk: all of it before they start, or the next block of a fed task. */
function fetchesOf(state: State): TaskState[] {
  const hungry = [...state.phases.feeding].filter(isHungry);
  return [...state.phases.fetching, ...hungry].filter(({ operator: { job } }) => !isPaused(job));
}

/** Whether the task has begun, or waits to begin. */
export function isUnderWay(task: TaskState): boolean {
  return isWithWorker(task) || task.phase === "fetching" || waitsInItsOperator(task);
}

/** A task that makes a lost block again waits elsewhere. */
export function waitsInItsOperator({ phase, repairs }: TaskState): boolean {
  return phase === "waiting" && repairs === null;
}

export function changes(state: State, run: () => void): boolean {
  const { ledger, store: disk } = state;
  // Room that this step reserves is not reserved for tasks that could not be served before.
  forgetReservedRoom(state);
  const figures = () => [
    ledger.room,
    ledger.leaving,
    disk.restoring.size,
    state.phases.fetching.size,
    state.phases.failing.length,
  ];
  const before = figures();
  run();
  return figures().some((now, i) => now !== before[i]);
}
