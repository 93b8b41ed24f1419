/**
 * Collects each worker that ended unasked and each task that ran out of memory, with what the session knew at that
 * moment. Both the report and `spillway oom` use it.
 */
import { isMemoryReason } from "../errors/index.ts";
import type { SessionState } from "../events/index.ts";
import type { LearnedNeed, Milliseconds, RecordedEvent, TaskId } from "../protocol/index.ts";
import { formatSize, needText } from "../units/index.ts";

export type Gone = Extract<RecordedEvent, { type: "workerGone" }>;
type Shortage = Extract<RecordedEvent, { type: "oomRetry" | "oomFailure" }>;
type Retry = Extract<RecordedEvent, { type: "oomRetry" | "oomFailure" | "retry" }>;

export interface Death {
  /** Deaths are numbered from 1 in order of time. */
  readonly number: number;
  readonly at: Milliseconds;
  /** Null when the worker survived: only its task was refused memory. */
  readonly gone: Gone | null;
  /** Null when memory was not the cause, or the worker had no task. */
  readonly shortage: Shortage | null;
  readonly isMemory: boolean;
  readonly task: TaskId | null;
  readonly operator: string | null;
  /** The files that the task reads. */
  readonly files: readonly string[];
  /** All attempts of the task, from the first to the last. */
  readonly attempts: readonly Attempt[];
  /** The remedies after the task's last attempt; empty when the worker died of something other than memory. */
  readonly remedies: readonly string[];
}

interface Attempt {
  readonly number: number;
  /** When the attempt ran out of memory; null when it did not, or is still running. */
  readonly endedAt: Milliseconds | null;
  /** What the attempt asked for, and how it ended. */
  readonly text: string;
}

export function deathsOf(state: SessionState): readonly Death[] {
  const retries = state.happened.filter(isRetry);
  const told = new Set<Retry>();
  const found: Omit<Death, "number">[] = [];
  for (const gone of state.happened) {
    if (gone.type !== "workerGone" || gone.reason === "asked") continue;
    const { at, task, operator, reason, files } = gone;
    const retry = retries.find((one) => one.task === task && one.worker === gone.worker && !told.has(one));
    if (retry !== undefined) told.add(retry);
    const shortage = retry === undefined || retry.type === "retry" ? null : retry;
    const isMemory = isMemoryReason(reason);
    const attempts = attemptsOf(task, retries);
    const remedies = shortage === null ? [] : remediesFor(task, retries);
    found.push({ at, gone, shortage, isMemory, task, operator, files, attempts, remedies });
  }
  for (const shortage of retries) {
    // A retry that belongs to no death: the worker was refused memory and lives on.
    if (shortage.type === "retry" || told.has(shortage)) continue;
    const { at, task, operator, files } = shortage;
    const attempts = attemptsOf(task, retries);
    const remedies = remediesFor(task, retries);
    found.push({ at, gone: null, shortage, isMemory: true, task, operator, files, attempts, remedies });
  }
  return found.sort((a, b) => a.at - b.at).map((death, index) => ({ ...death, number: index + 1 }));
}

/** For example "worker 3 (process 812) ended: monitor". */
export function headOf({ gone, shortage }: Death): string {
  if (gone !== null) return `worker ${gone.worker} (process ${gone.pid}) ended: ${gone.reason}`;
  return shortage === null
    ? ""
    : `worker ${shortage.worker} (process ${shortage.pid}) was refused memory: ${shortage.reason}`;
}

function isRetry(event: RecordedEvent): event is Retry {
  return event.type === "oomRetry" || event.type === "oomFailure" || event.type === "retry";
}

function attemptsOf(task: TaskId | null, retries: readonly Retry[]): readonly Attempt[] {
  if (task === null) return [];
  const own = retries.filter((one) => one.task === task);
  const last = own.at(-1);
  if (last === undefined) return [];
  const ended = own.map((one, index) => ({ number: index + 1, endedAt: one.at, text: endOf(one) }));
  if (last.type === "oomFailure") return ended;
  const next = last.type === "retry" ? "as before" : askedFor(last.need);
  return [...ended, { number: own.length + 1, endedAt: null, text: `${next}: no further death` }];
}

/** The remedies of the last attempt: later attempts may already have tried what earlier remedies advise. */
function remediesFor(task: TaskId | null, retries: readonly Retry[]): readonly string[] {
  const last = retries.findLast((one) => one.task === task && one.type !== "retry");
  return last === undefined || last.type === "retry" ? [] : last.remedies;
}

function endOf(retry: Retry): string {
  if (retry.type === "retry") return `its worker crashed (${retry.reason})`;
  const { memory, limit, reason, type } = retry;
  const had = memory === null ? "" : ` at ${formatSize(memory)}${limit === null ? "" : ` of ${formatSize(limit)}`}`;
  const end = type === "oomFailure" ? ", and the job failed" : "";
  return `${askedFor(retry.asked)}: ran out of memory${had}${end} (${reason})`;
}

function askedFor(need: LearnedNeed): string {
  const text = needText(need);
  return text === "" ? "as the operator says" : text;
}
