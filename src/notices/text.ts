/** One text for each kind of notice: what happened, to what, the number, what to do. */
import type { Bytes, Notice, RetryPlan } from "../protocol/index.ts";
import { formatSize, needText } from "../units/index.ts";

type Of<Kind extends Notice["kind"]> = Extract<Notice, { kind: Kind }>;
type Texts = { readonly [Kind in Notice["kind"]]: (notice: Of<Kind>) => string };

const MIB = 2 ** 20;
/** More spilling than this deserves advice. */
const HEAVY: Bytes = 10 * 2 ** 30;

const TEXTS: Texts = {
  spilled: (notice) => `Spilled ${totals(notice, "write")}${notice.bytes > HEAVY ? HEAVY_ADVICE : ""}`,
  restored: (notice) => `Restored ${totals(notice, "read")}`,
  waitsForDisk: ({ error }) => `Work waits for the disk: ${error}`,
  kernelSpilled: ({ operator, bytes }) =>
    `${operator}: the kernel has spilled ${formatSize(bytes)} to disk, because its memory is too small.`,
  storeOnDisk: ({ sharedMemory, free, capacity, directory }) =>
    `${sharedMemory} has ${formatSize(free)} free, less than the store's ${formatSize(capacity)}: the store is a file in ` +
    `${directory}. A larger ${sharedMemory} (docker run --shm-size) or a smaller objectStoreMemory is faster.`,
  noDashboard: ({ error }) =>
    `There is no dashboard: ${error}. The session works without it; see the option dashboard.`,
  placeTaken: ({ usual, why, used }) =>
    `${usual} ${why}: this session does not read or use it, and uses ${used} instead. Remove it, or give the ` +
    "session another localDirectory.",
  placeExposed: ({ directory }) =>
    `${directory} is writable by everybody and has no sticky bit: other users could replace the session's directory ` +
    `with their own. Run chmod +t ${directory}, or give the session another localDirectory.`,
  outOfMemory: ({ operator, cause, retry }) =>
    `${operator}: a task ran out of memory (${cause}). It runs again, and so do the tasks after it: ${retryText(retry)}.`,
  otherWay: ({ operator, partitions }) =>
    `${operator}: runs as an exchange${partitions === null ? "" : ` of ${partitions} partitions`}, because the kernel had too little memory for all rows at once.`,
  pausedTooLong: ({ worker, pid, seconds, cause }) =>
    `Worker ${worker} (process ${pid}) has been paused for ${seconds} s and has nothing left to spill: ${cause}`,
  unmanaged: ({ worker, pid, operator, process, limit, unmanaged }) =>
    `Worker ${worker} (process ${pid})${operator === null ? "" : ` (${operator})`} has ${formatSize(process)} of its ` +
    `${formatSize(limit)}, ${formatSize(unmanaged)} of it unmanaged, and nothing left to spill. There are two possible causes: ` +
    `${TWO_CAUSES}.`,
  replaced: ({ worker, pid, why }) =>
    `Worker ${worker} (process ${pid}) is replaced: ${why}. Class instances in it are constructed again.`,
  sharesNode: ({ sessions, memory, of, store, workers }) =>
    `This session shares its node with ${sessions} other ${sessions === 1 ? "session" : "sessions"} of yours: it has ` +
    `${formatSize(memory)} of ${formatSize(of)} for now, with ${formatSize(store)} for the store and ${workers} ` +
    `${workers === 1 ? "worker" : "workers"}. It gets more when others are idle or end. shareNode: false turns this off.`,
  deaths: deathsText,
  batchCut: ({ operator, bytes, rows, target, fitting }) =>
    `${operator}: the function returned a batch of ${formatSize(bytes)} for ${rows} rows, which is cut into blocks of at most ` +
    `${formatSize(target)} (targetMaxBlockSize). With batchSize: ${fitting} it would fit.`,
  largeRow: ({ operator, bytes, target }) =>
    `${operator}: one row takes ${formatSize(bytes)}, more than the ${formatSize(target)} of a block ` +
    "(targetMaxBlockSize). Rows are never cut: each such row gets a block of its own.",
  lateDispose: ({ operator, seconds }) =>
    `${operator}: its dispose() has not ended after ${seconds} s; the job continues without it.`,
  workerData: ({ problem }) => `data: ${problem}.`,
  releasedTwice: ({ error }) => `A block was released twice: ${error}`,
};

const HEAVY_ADVICE =
  " This is heavy spilling: more memory per CPU, more machines, or a local NVMe directory (localDirectory) make it faster.";

/** Why a worker has unmanaged memory. */
export const TWO_CAUSES =
  "a leak (a function that keeps what it made), or the allocator, which has not given back what was freed (session.trim())";

export function noticeText(notice: Notice): string {
  // The compiler cannot see that a notice and the text of its kind belong together.
  const text: (notice: never) => string = TEXTS[notice.kind];
  return text(notice as never);
}

function totals({ bytes, objects, seconds, pid, host }: Of<"spilled" | "restored">, verb: string): string {
  const amount = bytes / MIB;
  const rate = seconds > 0 ? amount / seconds : 0;
  return (
    `${Math.round(amount)} MiB, ${objects} ${objects === 1 ? "object" : "objects"}, ${verb} throughput ${Math.round(rate)} MiB/s. ` +
    `(supervisor ${pid} on ${host})`
  );
}

function retryText({ need, isWide, dropsRows }: RetryPlan): string {
  const asked = needText(need);
  const how = isWide ? "with fewer threads or more memory" : asked === "" ? "as it was" : asked;
  return dropsRows ? `${how}, without the rows that need more memory than there is (onError)` : how;
}

function deathsText({
  forMemory,
  others,
  host,
  logs,
  memoryUsageThreshold,
  memoryMonitorRefreshMs,
}: Of<"deaths">): string {
  const told =
    `${forMemory} workers (tasks / actors) killed due to memory pressure (OOM), ${others} workers crashed due to other ` +
    `reasons at node ${host} over the last time period. Their logs: tail -n 20 ${logs}/worker-*.log`;
  if (forMemory === 0) return told;
  const monitor =
    memoryMonitorRefreshMs === 0
      ? "The node's monitor is off (memoryUsageThreshold, memoryMonitorRefreshMs)."
      : `The node's monitor ends workers above memoryUsageThreshold (${memoryUsageThreshold}) of the memory; ` +
        `it measures every memoryMonitorRefreshMs (${memoryMonitorRefreshMs}) milliseconds; 0 turns it off.`;
  return (
    `${told}\nTo lose fewer workers: reserve the memory that a function needs (its option memory), use a smaller ` +
    `batchSize, more partitions, fewer workers, or more memory per core.\n${monitor}`
  );
}
