/** The blocks that a task reads, kept in memory while it needs them. */
import type { ArenaRange, BlockId } from "../../protocol/index.ts";
import type { State, TaskState } from "../state/index.ts";

/** Pins all that the task reads; everything is in memory. */
export function isPinned(task: TaskState): boolean {
  return task.input.pins.every((pin) => pin !== null);
}

export function pinAll(state: State, task: TaskState): readonly ArenaRange[] {
  return task.input.blocks.map((id, i) => {
    const range = task.input.pins[i] ?? state.ledger.pin(id);
    task.input.pins[i] = range;
    return range;
  });
}

/** Works also when only some of it was pinned. */
export function unpinAll(state: State, task: TaskState): boolean {
  let any = false;
  for (const [i, id] of task.input.blocks.entries()) {
    if (task.input.pins[i] === null) continue;
    task.input.pins[i] = null;
    state.ledger.unpin(id);
    any = true;
  }
  return any;
}

export function isAllInMemory(state: State, needs: readonly BlockId[]): boolean {
  return needs.every((id) => state.ledger.isInMemory(id));
}
