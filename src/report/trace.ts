/**
 * The task stream as Chrome trace JSON, which Perfetto and speedscope open. The trace has a track per worker slot,
 * tracks for spills, restores and jobs, memory counters, and marks for deaths and retries. It is written event by
 * event, so the whole trace is never in memory.
 */
import { type FileRecord, operatorOf, type TaskSpan } from "../events/index.ts";
import { noticeText } from "../notices/index.ts";
import type { JobId, Milliseconds, RecordedEvent } from "../protocol/index.ts";
import { type DiskSpan, Follower, Numbers } from "./follow.ts";

/** The format knows processes with threads. Each of these processes stands for one group of tracks. */
const PROCESSES = { workers: 1, disk: 2, jobs: 3, memory: 4 } as const;

const NAMES: Readonly<Record<keyof typeof PROCESSES, string>> = {
  workers: "Workers",
  disk: "Blocks to disk and back",
  jobs: "Jobs",
  memory: "Memory",
};

type TraceEvent = Readonly<Record<string, unknown>>;

/** Yields the text in pieces, in order. */
export function* traceOf(records: Iterable<FileRecord | null>): Iterable<string> {
  const made: TraceEvent[] = [];
  const tracer = new Tracer((event) => made.push(event));
  let separator = "";
  yield '{"displayTimeUnit":"ms","traceEvents":[\n';
  for (const record of records) {
    if (record === null) continue;
    tracer.take(record);
    for (const event of made) {
      yield separator + JSON.stringify(event);
      separator = ",\n";
    }
    made.length = 0;
  }
  tracer.end();
  for (const event of made) {
    yield separator + JSON.stringify(event);
    separator = ",\n";
  }
  yield `\n],"otherData":${JSON.stringify(tracer.about())}}\n`;
}

class Tracer {
  readonly #emit: (event: TraceEvent) => void;
  readonly #follower: Follower;
  readonly #named = new Set<string>();
  readonly #jobs = new Numbers<JobId>();
  readonly #jobLane = new Map<JobId, { readonly lane: number; readonly from: Milliseconds }>();

  constructor(emit: (event: TraceEvent) => void) {
    this.#emit = emit;
    for (const process of ["workers", "disk", "jobs", "memory"] as const) {
      const pid = PROCESSES[process];
      emit({ name: "process_name", ph: "M", pid, tid: 0, args: { name: NAMES[process] } });
      emit({ name: "process_sort_index", ph: "M", pid, tid: 0, args: { sort_index: pid } });
    }
    this.#follower = new Follower({
      task: (span) => this.#task(span),
      disk: (span) => this.#disk(span),
    });
  }

  take(record: FileRecord): void {
    if (record.type !== "snapshot") this.#mark(record);
    this.#follower.take(record);
  }

  end(): void {
    this.#follower.end();
    for (const { id, name } of this.#follower.lanes.all) this.#nameThread("workers", id, name);
    for (const job of [...this.#jobLane.keys()]) this.#endJob(job, this.#follower.state.at);
  }

  about(): TraceEvent {
    const { session } = this.#follower.state;
    if (session === null) return {};
    const { session: name, epoch, host, node, workers } = session;
    return { session: name, started: new Date(epoch).toISOString(), host, node, workers };
  }

  #task(span: TaskSpan): void {
    const { task, job, operator, index, lane, worker, attempt, outcome, bytesIn, figures, from, to } = span;
    const name = operatorOf(this.#follower.state, job, operator)?.plan.name ?? `operator ${operator}`;
    const args = { task, job, index, worker, attempt, outcome, bytesIn, ...figures, type: undefined, at: undefined };
    this.#emit({
      name: outcome === "done" ? name : `${name} (${outcome})`,
      cat: "task",
      ph: "X",
      ts: micro(from),
      dur: micro(to) - micro(from),
      pid: PROCESSES.workers,
      tid: lane.id,
      args,
    });
  }

  #disk({ kind, block, bytes, lane, from, to }: DiskSpan): void {
    this.#nameThread("disk", lane, `lane ${lane + 1}`);
    const [ts, pid] = [micro(from), PROCESSES.disk];
    this.#emit({ name: kind, cat: "disk", ph: "X", ts, dur: micro(to) - ts, pid, tid: lane, args: { block, bytes } });
  }

  /** Handles the events that are not spans. */
  #mark(event: RecordedEvent): void {
    const { at } = event;
    switch (event.type) {
      case "jobStarted": {
        const lane = this.#jobs.take(event.job);
        this.#nameThread("jobs", lane, `lane ${lane + 1}`);
        this.#jobLane.set(event.job, { lane, from: at });
        return;
      }
      case "job":
        if (event.to === "gone") this.#endJob(event.job, at);
        return;
      case "memory":
        this.#memory(event);
        return;
      case "node":
        this.#count("Node", at, { used: event.used });
        return;
      case "workerGone":
        if (event.reason !== "asked") {
          const { worker, pid, reason, exitCode, signal, task, operator, endedFor } = event;
          const name = `worker ${worker} died: ${reason}`;
          this.#instant(name, "death", at, { worker, pid, reason, exitCode, signal, task, operator, endedFor });
        }
        return;
      case "retry":
      case "oomRetry":
      case "oomFailure": {
        const { task, operator, attempt } = event;
        const { reason, files } = event;
        const details = event.type === "retry" ? {} : { asked: event.asked, need: event.need, memory: event.memory };
        this.#instant(`${event.type} of ${operator}`, event.type, at, { task, attempt, reason, files, ...details });
        return;
      }
      case "jobFailed":
        this.#instant(`job ${event.job} failed`, "failure", at, { ...event.error });
        return;
      case "pressure":
        this.#instant(`worker ${event.worker}: ${event.to}`, "pressure", at, {
          from: event.from,
          process: event.process,
        });
        return;
      case "notice":
        this.#instant(`notice: ${event.notice.kind}`, "notice", at, { text: noticeText(event.notice) });
        return;
    }
  }

  #endJob(job: JobId, at: Milliseconds): void {
    const open = this.#jobLane.get(job);
    if (open === undefined) return;
    this.#jobLane.delete(job);
    this.#jobs.free(job);
    const view = this.#follower.state.jobs.get(job);
    const args = { outcome: view?.outcome, rows: view?.rows, operators: view?.operators.map(({ plan }) => plan.name) };
    const [ts, pid, tid] = [micro(open.from), PROCESSES.jobs, open.lane];
    this.#emit({ name: `job ${job}`, cat: "job", ph: "X", ts, dur: micro(at) - ts, pid, tid, args });
  }

  #memory({ at, workers, program, supervisor, store }: Extract<RecordedEvent, { type: "memory" }>): void {
    const sum = (kind: "managed" | "unmanaged" | "recent") => workers.reduce((total, one) => total + one[kind], 0);
    this.#count("Workers by kind", at, { managed: sum("managed"), unmanaged: sum("unmanaged"), recent: sum("recent") });
    this.#count("Store", at, { resident: store.resident, "on disk": store.onDisk });
    this.#count("Other processes", at, { program: program.private, supervisor: supervisor.private });
  }

  #count(name: string, at: Milliseconds, args: Readonly<Record<string, number>>): void {
    this.#emit({ name, cat: "memory", ph: "C", ts: micro(at), pid: PROCESSES.memory, tid: 0, args });
  }

  /** An instant mark over all tracks. `args` holds its details. */
  #instant(name: string, cat: string, at: Milliseconds, args: TraceEvent): void {
    this.#emit({ name, cat, ph: "i", s: "g", ts: micro(at), pid: PROCESSES.workers, tid: 0, args });
  }

  #nameThread(process: keyof typeof PROCESSES, tid: number, name: string): void {
    const key = `${process}/${tid}`;
    if (this.#named.has(key)) return;
    this.#named.add(key);
    this.#emit({ name: "thread_name", ph: "M", pid: PROCESSES[process], tid, args: { name } });
  }
}

/** Rounded to whole microseconds, because fractions would only enlarge the file. */
function micro(at: Milliseconds): number {
  return Math.round(at * 1000);
}
