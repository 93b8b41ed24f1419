/**
 * Shows the progress of a job on stderr: on a terminal one line that is rewritten, elsewhere a plain line every ten
 * seconds, and nothing for jobs that end sooner than a person would look.
 */
import type { JobStats } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import type { JobObserver } from "./job.ts";

const FIRST_MS = 500;
const PLAIN_EVERY_MS = 10_000;
/** Used if the width is unknown: narrow, because a wrapped line cannot be rewritten. */
const NARROW = 80;

export const silent: JobObserver = { progress() {}, ended() {} };

export function progressLine(stream: NodeJS.WriteStream): JobObserver {
  const started = Date.now();
  const terminal = stream.isTTY === true;
  // A terminal that does not know its width says 0 or nothing. One column less than there are, because writing the last
  // column may wrap.
  const width = () => (stream.columns || NARROW) - 1;
  let last = terminal ? started + FIRST_MS - 100 : started;
  let shown = false;
  return {
    progress(stats) {
      const now = Date.now();
      if (now - last < (terminal ? 100 : PLAIN_EVERY_MS) || now - started < FIRST_MS) return;
      last = now;
      shown = true;
      const line = describe(stats, (now - started) / 1000);
      stream.write(terminal ? `\r\x1b[K${line.slice(0, width())}` : `${line}\n`);
    },
    ended() {
      if (shown && terminal) stream.write("\r\x1b[K");
    },
  };
}

function describe(stats: JobStats, seconds: number): string {
  const parts = stats.operators.map((operator) => {
    const rows = operator.rowsOut.total;
    return `${operator.name} ${operator.tasksDone}/${operator.tasks} tasks, ${Math.round(rows).toLocaleString("en")} rows`;
  });
  const rows = stats.operators.at(-1)?.rowsOut.total ?? 0;
  const rate = `${Math.round(rows / Math.max(seconds, 0.001)).toLocaleString("en")} rows/s`;
  return `${parts.join(" | ")} | ${rate} | worker ${formatSize(stats.peakWorkerMemory)}, store ${formatSize(stats.peakStoreBytes)}`;
}
