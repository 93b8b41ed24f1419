/**
 * What happens to a worker on each step of the ladder (drawn in src/memory/ladder.ts), after every reading of its
 * memory:
 *   spilling     its own blocks go to disk, the least recently used first (spill.ts); pinned ones stay;
 *   paused       no task and no question begins in it, the one it has goes on; blocks come from disk one at a time
 *                (fetch.ts); with nothing to do and nothing to spill it is trimmed, and replaced if that does not help
 *                (recycle.ts);
 *   terminating  SIGTERM now, SIGKILL at the next reading; its task is run again, its blocks stay.
 * The wide kernel is not on the ladder. A lease bounds it, and it puts the rest on disk by itself. It has one task, so
 * pausing it would stop the work. The node's monitor bounds what it takes beyond its lease for a moment.
 */

import { climb, processOf } from "../../memory/index.ts";
import { TWO_CAUSES } from "../../notices/index.ts";
import type { Milliseconds, Notice, Pressure } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { settleIdle } from "../phases/index.ts";
import { type State, tellNotice, type WorkerState, watch } from "../state/index.ts";
import { pressingBytes, thresholdsOf, useOf } from "../store/index.ts";
import { endWorker } from "./ending.ts";

/**
 * Works out the worker's step, after a reading of its memory or after a report of its worker data ("word"). A report
 * alone never ends a process.
 */
export function stand(state: State, worker: WorkerState, by: "reading" | "word"): void {
  const { memory } = state.options;
  if (memory === null || worker.memory.reading === null) return;
  if (worker.memory.standing.pressure === "terminating") {
    if (by === "word") return;
    state.commands.push({ type: "kill", worker: worker.id, reason: "terminate" });
    return;
  }
  if (worker.phase === "stopping") return;
  const before = worker.memory.standing;
  const thresholds = thresholdsOf(state, worker);
  worker.memory.standing = climb(
    before,
    pressingBytes(state, worker),
    worker.memory.limit,
    by === "reading" ? thresholds : { ...thresholds, terminate: false },
  );
  if (worker.memory.standing.pressure !== before.pressure) moved(state, worker, before.pressure);
}

function moved(state: State, worker: WorkerState, from: Pressure): void {
  const { id, pid } = worker;
  const { limit: memory, standing } = worker.memory;
  const to = standing.pressure;
  watch(state, {
    type: "pressure",
    worker: id,
    pid,
    from,
    to,
    process: processOf(useOf(state, worker)),
    limit: memory,
  });
  if (to === "paused") {
    worker.memory.paused = { since: state.now, isReported: false };
    state.memory.paused.add(worker);
  } else leavePause(state, worker);
  if (to === "terminating") {
    endWorker(state, worker, whyTerminated(state, worker));
    state.commands.push({ type: "terminate", worker: id });
  } else settleIdle(state, worker);
}

function whyTerminated(state: State, worker: WorkerState): string {
  const { terminate } = thresholdsOf(state, worker);
  const kind = state.options.memory?.measure === "managed" ? "managed memory" : "memory";
  const has = formatSize(pressingBytes(state, worker));
  return `its ${kind} of ${has} was above ${terminate} of its limit of ${formatSize(worker.memory.limit)} (worker.memory.terminate)`;
}

function leavePause(state: State, worker: WorkerState): void {
  worker.memory.paused = null;
  state.memory.paused.delete(worker);
}

/** True also if none of its blocks has to leave. */
export function hasNothingToSpill({ memory: { standing }, store: { foundNothingToSpill } }: WorkerState): boolean {
  return foundNothingToSpill || !standing.spills;
}

/** When the next worker will have been paused for too long. */
export function pauseDeadline({ memory: { paused }, options: { memory }, now }: State): Milliseconds {
  let at = Number.POSITIVE_INFINITY;
  for (const worker of paused) {
    const due = (worker.memory.paused?.since ?? 0) + (memory?.pausedTooLong ?? 0);
    // A worker that still has something to spill is checked again at the next reading.
    if (due > now) at = Math.min(at, due);
  }
  return at;
}

/** Reports workers that are paused for too long with nothing left to spill: once for each pause. */
export function reportPauses(state: State): void {
  for (const worker of state.memory.paused) {
    const { id, pid } = worker;
    const { paused } = worker.memory;
    if (paused === null || paused.isReported || !hasNothingToSpill(worker)) continue;
    const elapsed = state.now - paused.since;
    if (elapsed < (state.options.memory?.pausedTooLong ?? 0)) continue;
    paused.isReported = true;
    const seconds = Math.round(elapsed / 1000);
    const cause = causeOfPause(state, worker);
    watch(state, { type: "pausedTooLong", worker: id, pid, seconds, cause });
    tellNotice(state, { kind: "pausedTooLong", worker: id, pid, seconds, cause });
  }
}

function causeOfPause(state: State, worker: WorkerState): string {
  const { task } = worker;
  const { limit: memory, kinds } = worker.memory;
  const { history } = worker.recycling;
  const has = `${formatSize(kinds.process)} of its ${formatSize(memory)}`;
  if (task !== null) {
    const runs = Math.round((state.now - task.run.startedAt) / 1000);
    return (
      `its task of ${task.operator.spec.name} has run for ${runs} s and has ${has}. It goes on; a smaller batchSize, or more ` +
      "memory for the function (its option memory) or for all (memoryLimit), keeps it below."
    );
  }
  const unmanaged = formatSize(kinds.unmanaged + kinds.recent);
  if (history.tasks === 0) return `it has ${has} before its first task: memoryLimit is too small for a worker.`;
  return `it has ${has}, ${unmanaged} of it unmanaged: ${TWO_CAUSES}.`;
}

/** Memory outside of blocks is high, so spilling more would not help (K11). Said once for each operator. */
export function warnOfUnmanaged(state: State, worker: WorkerState): void {
  const { id, pid } = worker;
  const { kinds, limit: memory } = worker.memory;
  const unmanaged = kinds.unmanaged + kinds.recent;
  if (!worker.memory.standing.spills || !worker.store.foundNothingToSpill || unmanaged * 2 < kinds.process) return;
  const operator = worker.task?.operator.spec.name ?? worker.recycling.history.operator;
  const { process } = kinds;
  once(state, `unmanaged/${operator}`, {
    kind: "unmanaged",
    worker: id,
    pid,
    operator,
    process,
    limit: memory,
    unmanaged,
  });
}

export function once(state: State, about: string, notice: Notice): void {
  if (state.memory.warned.has(about)) return;
  state.memory.warned.add(about);
  tellNotice(state, notice);
}
