/**
 * Events that are put together from much of the state: memory as it was read, and all that is known of a worker's end.
 */
import type { BesideWorker, Bytes, WorkerMemoryReading } from "../../protocol/index.ts";
import type { BlockWatch } from "../../store/index.ts";
import { type EventStream, filesRead, note, type State, type WorkerEnd, type WorkerState } from "../state/index.ts";

/** Moves of blocks, as the ledger makes them. */
export function blockWatch(stream: EventStream): BlockWatch {
  return {
    moved: (block, to) => stream.events.push({ at: stream.at, type: "block", block, to }),
    kept: (block) => stream.events.push({ at: stream.at, type: "block", block, to: "resident", isWritten: true }),
    freed: (block) => stream.events.push({ at: stream.at, type: "blockFreed", block }),
  };
}

export function noteMemory(state: State): void {
  const { ledger, options } = state;
  const { processes, workerMemory, lease } = state.memory;
  const store = { resident: ledger.live, onDisk: ledger.onDisk, files: ledger.spilledBytes };
  const lent = state.phases.wide === null ? 0 : (lease?.told ?? 0);
  note(state, {
    type: "memory",
    workers: allWorkers(state).flatMap(readingOf),
    ...processes,
    store,
    workerLimit: limitOf(workerMemory),
    limit: limitOf(workerMemory * options.workers + lent),
  });
}

function limitOf(bytes: Bytes): Bytes | null {
  return Number.isFinite(bytes) ? bytes : null;
}

function readingOf({ id, memory: { reading, kinds, standing } }: WorkerState): readonly WorkerMemoryReading[] {
  if (reading === null) return [];
  const { private: own, shared, children } = reading;
  return [{ worker: id, private: own, shared, children, pressure: standing.pressure, ...kinds }];
}

export function noteGone(state: State, worker: WorkerState, end: WorkerEnd): void {
  const { id, pid, task } = worker;
  const { limit: memory, endedFor } = worker.memory;
  const { exitCode, signal, cause, curve, node, log } = end;
  note(state, {
    type: "workerGone",
    worker: id,
    pid,
    reason: cause,
    exitCode,
    signal,
    task: task?.id ?? null,
    operator: task?.operator.spec.name ?? null,
    files: task === null ? [] : filesRead(task.input.source),
    endedFor,
    limit: limitOf(memory),
    curve: curve.map((point) => [Math.round(point.at), point.private] as const),
    nodeCurve: cause === "asked" ? [] : [...state.memory.nodeCurve],
    node,
    beside: cause === "asked" ? [] : besides(state, worker),
    log,
  });
}

function besides(state: State, worker: WorkerState): readonly BesideWorker[] {
  return allWorkers(state).flatMap((other) => {
    const { id, task } = other;
    const { reading } = other.memory;
    if (other === worker || task === null) return [];
    return [{ worker: id, task: task.id, operator: task.operator.spec.name, private: reading?.private ?? null }];
  });
}

function allWorkers({ workers, phases: { wide } }: State): readonly WorkerState[] {
  return wide === null ? [...workers.values()] : [...workers.values(), wide];
}
