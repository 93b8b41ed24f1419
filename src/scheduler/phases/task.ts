/**
 * Where a task stands. `moveTask` is the only writer of a task's phase and of the sets that index tasks by it; the
 * table says which moves there are. `docs/scheduler.md` draws the table, and a test compares the two.
 */
import type { Bytes, TaskPhase } from "../../protocol/index.ts";
import { nextOrder, note, type OperatorState, type State, type TaskState } from "../state/index.ts";
import { assertMove, type Moves } from "./moves.ts";

export const TASK_MOVES: Moves<TaskPhase> = {
  unplaced: {
    waiting: "it is run again, or makes a lost block again",
    fetching: "it reads blocks that are on disk",
    aside: "it has stood back for another task",
    resting: "it ran out of memory",
    running: "a worker is given it",
    over: "it is done, has failed, or is not wanted",
  },
  waiting: {
    fetching: "blocks that it reads have left memory",
    running: "a worker is given it",
    over: "its operator has ended",
  },
  fetching: {
    waiting: "all that it reads is in memory",
    over: "its operator has ended",
  },
  aside: {
    waiting: "the task that it stood back for is through",
    over: "its operator has ended",
  },
  resting: {
    waiting: "its time has come",
    over: "its operator has ended",
  },
  running: {
    asking: "it has a block to write",
    cancelling: "it is not wanted, or stands back",
    unplaced: "it ends, or its worker does",
  },
  asking: {
    running: "it is given room, or its worker is ended",
    cancelling: "it is not wanted, or stands back",
    unplaced: "it ends, or its worker does",
  },
  cancelling: {
    killing: "its worker does not answer",
    unplaced: "it ends, or its worker does",
  },
  killing: {
    unplaced: "it ends, or its worker does",
  },
  over: {},
};

const WITH_WORKER: ReadonlySet<TaskPhase> = new Set<TaskPhase>(["running", "asking", "cancelling", "killing"]);

/** Whether a worker has the task. */
export function isWithWorker({ phase }: TaskState): boolean {
  return WITH_WORKER.has(phase);
}

/** Whether the operator has tasks that are not over, including a task that makes a lost block again. */
export function hasTasks({ phases: { running, again, fetching, aside, resting } }: OperatorState): boolean {
  return running.size + again.length + fetching.size + aside.size + resting.size > 0;
}

/** The task was formed; it is moved on within the same event. */
export function addTask(state: State, task: TaskState): void {
  state.phases.unplaced.add(task);
  const { id, operator, index, repairs } = task;
  const { bytesIn } = task.output;
  note(state, {
    type: "taskFormed",
    task: id,
    job: operator.job.id,
    operator: operator.spec.id,
    index,
    bytesIn,
    ...(repairs === null ? {} : { repairs: repairs.flow.block.id }),
  });
}

/** A full block of the task waits for room in the store. */
export function asksForRoom(state: State, task: TaskState, bytes: Bytes): void {
  task.asking = { bytes, order: nextOrder(state), since: state.now };
  moveTask(state, task, "asking");
}

export function moveTask(state: State, task: TaskState, to: TaskPhase): void {
  assertMove(TASK_MOVES, `The task ${task.id}`, task.phase, to);
  const [had, has] = [isWithWorker(task), WITH_WORKER.has(to)];
  leave(state, task);
  if (had && !has) leaveWorkers(state, task);
  task.phase = to;
  if (has && !had) joinWorkers(state, task);
  enter(state, task);
  const { stream } = state;
  const { id, worker } = task;
  if (has && !had && worker !== null)
    stream.events.push({ at: stream.at, type: "task", task: id, to, worker: worker.id });
  else stream.events.push({ at: stream.at, type: "task", task: id, to });
}

function leave(state: State, task: TaskState): void {
  const { operator, repairs } = task;
  switch (task.phase) {
    case "unplaced":
      state.phases.unplaced.delete(task);
      return;
    case "waiting":
      remove(repairs === null ? operator.phases.again : state.phases.repairs, task);
      return;
    case "fetching":
      operator.phases.fetching.delete(task);
      state.phases.fetching.delete(task);
      return;
    case "aside":
      operator.phases.aside.delete(task);
      return;
    case "resting":
      operator.phases.resting.delete(task);
      state.phases.resting.delete(task);
      return;
    case "asking":
      leaveAskers(state, task);
      return;
    case "cancelling":
      state.phases.cancelling.delete(task);
      return;
    case "running":
    case "killing":
    case "over":
      return;
  }
}

function enter(state: State, task: TaskState): void {
  const { operator, repairs } = task;
  switch (task.phase) {
    case "unplaced":
      state.phases.unplaced.add(task);
      return;
    case "waiting":
      if (repairs === null) insertByIndex(operator.phases.again, task);
      else state.phases.repairs.push(task);
      return;
    case "fetching":
      operator.phases.fetching.add(task);
      state.phases.fetching.add(task);
      return;
    case "aside":
      operator.phases.aside.add(task);
      return;
    case "resting":
      operator.phases.resting.add(task);
      state.phases.resting.add(task);
      return;
    case "asking":
      joinAskers(state, task);
      return;
    case "cancelling":
      state.phases.cancelling.add(task);
      return;
    case "running":
    case "killing":
    case "over":
      return;
  }
}

function joinWorkers(state: State, task: TaskState): void {
  const { operator, repairs } = task;
  const { feed } = task.input;
  if (repairs === null) operator.phases.running.set(task.index, task);
  else operator.phases.repairing.add(task);
  operator.job.phases.runningTasks += 1;
  if (feed !== null) state.phases.feeding.add(task);
}

function leaveWorkers(state: State, task: TaskState): void {
  const { operator, repairs } = task;
  if (repairs === null) operator.phases.running.delete(task.index);
  else operator.phases.repairing.delete(task);
  operator.job.phases.runningTasks -= 1;
  state.phases.feeding.delete(task);
}

function joinAskers(state: State, task: TaskState): void {
  const { operator, asking } = task;
  if (asking === null) throw new Error(`The task ${task.id} asks for no bytes.`);
  operator.phases.asking.add(task);
  operator.phases.askingBytes += asking.bytes;
  operator.job.phases.askingTasks += 1;
  state.phases.askers.add(operator);
  state.phases.askingTasks += 1;
}

function leaveAskers(state: State, task: TaskState): void {
  const { operator } = task;
  operator.phases.askingBytes -= task.asking?.bytes ?? 0;
  task.asking = null;
  operator.job.phases.askingTasks -= 1;
  operator.phases.asking.delete(task);
  if (operator.phases.asking.size === 0) state.phases.askers.delete(operator);
  state.phases.askingTasks -= 1;
}

function insertByIndex(tasks: TaskState[], task: TaskState): void {
  const at = tasks.findIndex((other) => other.index > task.index);
  tasks.splice(at === -1 ? tasks.length : at, 0, task);
}

function remove(tasks: TaskState[], task: TaskState): void {
  tasks.splice(tasks.indexOf(task), 1);
}
