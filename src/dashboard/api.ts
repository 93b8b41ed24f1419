/**
 * What the dashboard's server and its pages say to each other. This file has only types; both sides import it. Times
 * are milliseconds since the session's epoch, and sizes are bytes. Text from users (names of operators, files,
 * messages) is plain text here, and whatever shows it escapes it.
 *
 * GET  /api/stream            server-sent events: one `snapshot`, then a `patch` whenever something has changed
 * GET  /api/tasks             TaskStream; ?from=&to=&width= (times, pixels); with &follows, of up to half a second ago
 * GET  /api/operators/<job>/<operator>    OperatorDetails
 * GET  /api/blocks            BlocksView
 * GET  /api/deaths            DeathCard[]
 * GET  /api/logs              LogFile[]
 * GET  /api/logs/<name>       LogText; ?from=<byte>&find=<text>
 * GET  /api/logs/<name>/download
 * GET  /api/profiles          ProfileFile[]
 * GET  /api/profiles/<name>   the .heapprofile; /api/profiles/<name>/flame: FlameProfile
 * POST /api/profiles          ProfileRequest → ProfileFile: profiles a worker of a running session
 * GET  /api/settings          SettingRow[]
 * GET  /api/report            the session as one HTML file
 * GET  /metrics, /health
 */
import type { Finding, OperatorPlan, Pressure, ToldError } from "../protocol/index.ts";

export type { Finding } from "../protocol/index.ts";

/**
 * What pages show live, as entries by key. A page keeps the entries in a map; a patch replaces, removes and extends
 * entries.
 *
 * "session" SessionCard; "totals" TotalsCard; "worker/<id>" WorkerCard; "job/<id>" JobCard;
 * "plan/<job>/<operator>" OperatorPlan, which is sent once, before the OperatorNow of "operator/<job>/<operator>": its
 * SQL may be long. Together they are an OperatorCard. "series/<name>" Series; "happened" Happened[] (only extended).
 */
export interface Snapshot {
  readonly entries: Readonly<Record<string, unknown>>;
}

export interface Patch {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
  /** More points for a Series, more lines for "happened". */
  readonly append?: Readonly<Record<string, unknown>>;
}

export interface SessionCard {
  readonly name: string;
  readonly status: "running" | "ended" | "killed";
  /** Start of the session, in milliseconds since 1970. All other times count from here. */
  readonly epoch: number;
  /** Time of the last event. */
  readonly at: number;
  readonly host: string;
  readonly node: string;
  readonly supervisor: number;
  readonly program: number;
  readonly slots: number;
  /** The most threads of the wide kernel. The kernel of a worker has one. */
  readonly kernelThreads: number;
  /** Shares of a worker's limit. False: the ladder has no such step. */
  readonly thresholds: Readonly<Record<string, number | false>>;
  readonly nodeThreshold: number | null;
  /** The memory plan with the limit in force: each figure with its name, in words. */
  readonly memoryPlan: readonly (readonly [name: string, value: string])[];
  /** The directory with the session's logs. */
  readonly directory: string;
  /** Events that did not reach the dashboard in time, and jobs and lines that it no longer keeps. */
  readonly leftOut: { readonly events: number; readonly jobs: number; readonly happened: number };
}

/** managed + unmanaged + recent = process. `spilled` lies on disk and is not part of the sum. */
export interface Kinds {
  readonly process: number;
  readonly managed: number;
  readonly unmanaged: number;
  readonly recent: number;
  readonly spilled: number;
}

export interface TotalsCard {
  readonly kinds: Kinds;
  readonly workerLimit: number | null;
  readonly program: number;
  readonly supervisor: number;
  readonly node: { readonly used: number; readonly total: number } | null;
  readonly store: {
    readonly capacity: number;
    readonly resident: number;
    readonly onDisk: number;
    readonly files: number;
    readonly blocks: number;
  };
  readonly spilledBytes: number;
  readonly restoredBytes: number;
  readonly tasks: { readonly running: number; readonly waiting: number; readonly done: number };
  /** Worker deaths caused by memory, other worker deaths, and retries after running out of memory. */
  readonly memoryDeaths: number;
  readonly otherDeaths: number;
  readonly oomRetries: number;
}

export interface WorkerCard {
  readonly id: number;
  readonly kind: "worker" | "wide";
  readonly pid: number | null;
  readonly phase: string;
  readonly pressure: Pressure;
  /** Colour of the worker's bar. The part for `spilled` is always grey. */
  readonly colour: "blue" | "orange" | "red";
  readonly limit: number | null;
  readonly kinds: Kinds | null;
  readonly private: number;
  readonly children: number;
  readonly startedAt: number;
  /** How many earlier workers this slot had. */
  readonly restarts: number;
  /** Open files and sockets. Null when unknown: the session has ended, or belongs to another user. */
  readonly descriptors: number | null;
  readonly task: { readonly id: string; readonly operator: string; readonly startedAt: number } | null;
}

export interface JobCard {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly phase: string;
  /** cut off: the session ended before the job did, as when its supervisor was killed. */
  readonly outcome: "finished" | "failed" | "cancelled" | "cut off" | null;
  readonly error: ToldError | null;
  readonly rows: number | null;
  readonly rowsDelivered: number;
  /** Operators in plan order; each has an OperatorPlan and an OperatorNow. */
  readonly operators: readonly number[];
}

export interface OperatorCard extends OperatorNow {
  readonly plan: OperatorPlan;
}

/** What changes while an operator runs. */
export interface OperatorNow {
  readonly job: string;
  readonly id: number;
  readonly ended: boolean;
  /** How much of its work is done, from 0 to 1, as running tasks tell it; null while it is unknown. */
  readonly share: number | null;
  /** The tasks that are known so far; of these, so many were formed. */
  readonly tasks: number;
  readonly formed: number;
  readonly waiting: number;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly retries: number;
  readonly oomRetries: number;
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly bytesOut: number;
  /** Means over the last few seconds. */
  readonly rowsPerSecond: number;
  readonly bytesPerSecond: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Sums over the operator's tasks, in milliseconds; `wall` with the running ones. */
  readonly wall: number;
  readonly cpu: number;
  readonly longest: number;
  readonly errored: number;
  readonly peakMemory: number;
  /** The most that a task added to what its worker had. */
  readonly addedMemory: number;
  /** What a task is expected to take; null: unknown. */
  readonly appetite: number | null;
  /** Private memory of the workers that run the operator's tasks now. */
  readonly memoryNow: number;
  /** Blocks that the operator made and that nobody has read yet. */
  readonly queuedBlocks: number;
  readonly queuedBytes: number;
  readonly spilledBlocks: number;
  readonly spilledBytes: number;
  readonly restoredBytes: number;
  /** What holds the operator back, in words, and the time since when it does. */
  readonly heldBy: string | null;
  readonly heldSince: number;
  /** Milliseconds held back, by the same words. */
  readonly heldBack: Readonly<Record<string, number>>;
}

/** Columns of equal length: `t`, and one for each name. */
export interface Series {
  readonly t: readonly number[];
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
}

/**
 * The series:
 *
 * "memory": process, managed, unmanaged, recent and spilled of all workers; program; supervisor; shared (blocks in
 * memory, counted once); workers (their private memory). The sum of shared, workers, program and supervisor is the
 * session's memory.
 * "node": used, total.
 * "store": resident, onDisk.
 * "flow": rows, bytes, spilled and restored per second.
 * "deaths": worker deaths caused by memory, other worker deaths, and retries after running out of memory, each counted
 * since the start.
 * "operators": private memory of the workers that run an operator's tasks, by `<job>/<operator>`. Only the operators
 * with the highest peaks are included.
 */
export type SeriesName = "memory" | "node" | "store" | "flow" | "deaths" | "operators";

export interface Happened {
  readonly at: number;
  readonly type: string;
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
  readonly worker: number | null;
  readonly operator: string | null;
}

/** The part of the task stream between two times. Spans that share a pixel are merged into one rectangle. */
export interface TaskStream {
  readonly from: number;
  readonly to: number;
  readonly operators: readonly { readonly key: string; readonly name: string }[];
  readonly lanes: readonly TaskLane[];
  /** Oldest spans that are no longer kept. */
  readonly leftOut: number;
}

export interface TaskLane {
  readonly name: string;
  readonly kind: "worker" | "wide" | "disk" | "program";
  /** Per rectangle: start, end, index in `operators` (−1 for disk and transfers), kind, number of merged spans. */
  readonly spans: readonly (readonly [number, number, number, SpanKind, number])[];
}

export type SpanKind = "task" | "failed" | "killed" | "retried" | "spill" | "restore" | "transfer";

export interface OperatorDetails {
  readonly card: OperatorCard;
  /** The longest tasks and those with the most memory, at most 200 of each; 20 of an older job. */
  readonly tasks: readonly TaskCard[];
  readonly tasksLeftOut: number;
  /** Private memory over time, one column for a run of a task, of the fullest tasks with two readings or more. */
  readonly memory: Series;
  /** Other tasks with two readings or more. */
  readonly memoryLeftOut: number;
  readonly findings: readonly Finding[];
}

export interface TaskCard {
  readonly id: string;
  readonly index: number;
  readonly worker: number | null;
  readonly phase: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly bytesIn: number | null;
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly bytesOut: number;
  /** Private memory of its worker now; null: the task does not run. */
  readonly memory: number | null;
  readonly peakMemory: number;
  readonly attempts: number;
}

export interface BlocksView {
  /** One group per operator. */
  readonly groups: readonly {
    readonly operator: string;
    readonly key: string | null;
    readonly blocks: number;
    readonly inMemory: number;
    readonly onDisk: number;
    readonly oldest: number;
    readonly holders: readonly string[];
  }[];
  /** The largest blocks, at most 500. */
  readonly blocks: readonly {
    readonly id: number;
    readonly operator: string;
    readonly bytes: number;
    readonly rows: number;
    readonly state: string;
    readonly holder: string;
    readonly age: number;
    readonly worker: number | null;
  }[];
  readonly leftOut: number;
}

/** A worker that ended unasked, or a task that ran out of memory. */
export interface DeathCard {
  readonly id: number;
  readonly at: number;
  readonly worker: number | null;
  readonly pid: number | null;
  readonly reason: string;
  readonly isMemory: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly task: string | null;
  readonly operator: string | null;
  readonly files: readonly string[];
  /** Why the session chose to end this worker. */
  readonly why: string | null;
  readonly limit: number | null;
  /** The worker's memory before its end, as pairs of time and bytes. */
  readonly curve: readonly (readonly [number, number])[];
  readonly nodeCurve: readonly (readonly [number, number])[];
  readonly node: { readonly used: number; readonly total: number; readonly threshold: number | null } | null;
  readonly users: readonly { readonly pid: number; readonly name: string; readonly private: number }[];
  readonly beside: readonly {
    readonly worker: number;
    readonly operator: string;
    readonly private: number | null;
  }[];
  /** What each attempt of the task asked for, as text. */
  readonly attempts: readonly { readonly at: number; readonly text: string }[];
  readonly remedies: readonly string[];
  readonly log: string | null;
  readonly profile: string | null;
}

export interface LogFile {
  readonly name: string;
  readonly bytes: number;
  readonly modified: number;
  readonly worker: number | null;
}

export interface LogText {
  readonly name: string;
  readonly size: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** With `find`: at most 1,000 matching lines, and the number of all matching lines. */
  readonly found?: {
    readonly total: number;
    readonly lines: readonly { readonly at: number; readonly text: string }[];
  };
}

export interface ProfileRequest {
  readonly worker: number;
  readonly seconds: number;
}

export interface ProfileFile {
  readonly name: string;
  readonly bytes: number;
  readonly modified: number;
  readonly worker: number | null;
  readonly operator: string | null;
}

/** A heap profile as trees that can be drawn at once. */
export interface FlameProfile {
  readonly title: string;
  readonly views: readonly { readonly name: string; readonly root: FlameNode }[];
  /** Pairs of milliseconds since the profile's start and bytes of the worker's private memory. */
  readonly curve: readonly (readonly [number, number])[];
  /** For each view, its time on the curve. */
  readonly moments: readonly number[];
}

export interface FlameNode {
  readonly name: string;
  /** `file:line`; null when it is unknown. */
  readonly place: string | null;
  readonly kind: "code" | "heap" | "buffer" | "block" | "engine" | "unattributed";
  /** Bytes of this node and all nodes below it. */
  readonly total: number;
  readonly own: number;
  readonly children: readonly FlameNode[];
}

export interface SettingRow {
  readonly path: string;
  readonly value: string;
  readonly from: string;
}
