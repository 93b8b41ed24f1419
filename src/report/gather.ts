/**
 * Reads from the event file, once, all that a report needs: the final state, every span as numbers, and memory over
 * time. The size of the file bounds the result.
 */
import { type FileRecord, type Lane, type Outcome, operatorOf, type SessionState } from "../events/index.ts";
import type { Bytes, Milliseconds, RecordedEvent } from "../protocol/index.ts";
import { Follower } from "./follow.ts";

/** One run of a task. `operator` is an index into `Gathered.operators`. */
export interface Run {
  readonly lane: number;
  readonly operator: number;
  readonly from: Milliseconds;
  readonly to: Milliseconds;
  readonly outcome: Outcome;
}

export interface DiskRun {
  readonly kind: "spill" | "restore";
  readonly from: Milliseconds;
  readonly to: Milliseconds;
}

export interface MemoryPoint {
  readonly at: Milliseconds;
  readonly managed: Bytes;
  readonly unmanaged: Bytes;
  readonly recent: Bytes;
  readonly program: Bytes;
  readonly supervisor: Bytes;
  readonly spilled: Bytes;
}

export interface Mark {
  readonly at: Milliseconds;
  readonly kind: "death" | "retry";
  readonly text: string;
}

export interface Gathered {
  readonly state: SessionState;
  readonly lanes: readonly Lane[];
  /** Names of the operators that ran tasks. Jobs of the same plan share them. */
  readonly operators: readonly string[];
  readonly runs: readonly Run[];
  readonly disk: readonly DiskRun[];
  readonly memory: readonly MemoryPoint[];
  readonly node: readonly (readonly [Milliseconds, Bytes])[];
  readonly marks: readonly Mark[];
  /** For the time before this, only totals are known. */
  readonly since: Milliseconds;
  /** Lines of the file that could not be read. */
  readonly torn: number;
}

export function gather(records: Iterable<FileRecord | null>): Gathered {
  const numbers = new Map<string, number>();
  const runs: Run[] = [];
  const disk: DiskRun[] = [];
  const memory: MemoryPoint[] = [];
  const node: [Milliseconds, Bytes][] = [];
  const marks: Mark[] = [];
  let [since, torn, isFirst] = [0, 0, true];
  const follower: Follower = new Follower({
    task: ({ job, operator: id, lane, from, to, outcome }) => {
      const name = operatorOf(follower.state, job, id)?.plan.name ?? `operator ${id}`;
      const operator = numbers.get(name) ?? numbers.size;
      numbers.set(name, operator);
      runs.push({ lane: lane.id, operator, from, to, outcome });
    },
    disk: ({ kind, from, to }) => disk.push({ kind, from, to }),
  });
  for (const record of records) {
    if (record === null) {
      torn += 1;
      continue;
    }
    if (isFirst && record.type === "snapshot") since = record.state.at;
    isFirst = false;
    follower.take(record);
    if (record.type === "memory") memory.push(pointOf(record));
    else if (record.type === "node") node.push([record.at, record.used]);
    else if (record.type !== "snapshot") marks.push(...markOf(record));
  }
  follower.end();
  return {
    state: follower.state,
    lanes: follower.lanes.all,
    operators: [...numbers.keys()],
    runs,
    disk,
    memory,
    node,
    marks,
    since,
    torn,
  };
}

function pointOf({ at, workers, program, supervisor, store }: Extract<RecordedEvent, { type: "memory" }>): MemoryPoint {
  let [managed, unmanaged, recent] = [0, 0, 0];
  for (const worker of workers) {
    managed += worker.managed;
    unmanaged += worker.unmanaged;
    recent += worker.recent;
  }
  return {
    at,
    managed,
    unmanaged,
    recent,
    program: program.private,
    supervisor: supervisor.private,
    spilled: store.files,
  };
}

function markOf(event: RecordedEvent): Mark[] {
  const { at } = event;
  if (event.type === "workerGone" && event.reason !== "asked") {
    return [{ at, kind: "death", text: `worker ${event.worker} died: ${event.reason}` }];
  }
  if (event.type === "oomFailure")
    return [{ at, kind: "retry", text: `${event.operator} has run out of memory for good` }];
  if (event.type !== "retry" && event.type !== "oomRetry") return [];
  return [{ at, kind: "retry", text: `${event.operator} runs again (attempt ${event.attempt + 1})` }];
}
