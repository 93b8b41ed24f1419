/** Numbers about a stage as short texts: estimates before it runs, figures afterwards. */
import type { OperatorStats } from "../protocol/index.ts";
import { formatDuration, formatSize, needText } from "../units/index.ts";
import { amountText } from "./amount.ts";
import type { Estimate } from "./estimate.ts";

/** For example "1 task" or "1,200 rows". */
export function counted(number: number, what: string): string {
  return `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;
}

/** For example "at most 300,000 rows, about 2.3 MiB", or "unknown". */
export function estimateText({ rows, bytes }: Estimate): string {
  if (rows === null && bytes === null) return "unknown";
  const rowsText = rows === null ? "unknown rows" : amountText(rows, (value) => counted(value, "row"));
  const bytesText = bytes === null ? "unknown bytes" : amountText(bytes, (value) => formatSize(Math.round(value)));
  return `${rowsText}, ${bytesText}`;
}

/**
 * For example "ran out of memory 3 times; since then batches of 128 rows, 1 at once, 412 MiB each". Null when the stage
 * never ran out of memory.
 */
export function learnedText({ oomRetries, learned }: Pick<OperatorStats, "oomRetries" | "learned">): string | null {
  const since = learned === null ? "" : needText(learned);
  if (oomRetries === 0) return since === "" ? null : `${since}, as it was found before`;
  const times = oomRetries === 1 ? "once" : `${oomRetries} times`;
  return `ran out of memory ${times}${since === "" ? "" : `; since then ${since}`}`;
}

/** For example "about 310 MiB, by its last tasks". Null when nothing was seen. */
export function appetiteText({ appetite }: Pick<OperatorStats, "appetite">): string | null {
  if (appetite === null) return null;
  const by = { batch: "its first batch", tasks: "its last tasks", earlier: "an earlier run" }[appetite.from];
  return `about ${formatSize(appetite.bytes)}, by ${by}`;
}

/** For example "10 rows, 240 B, 4 tasks, 12ms of work (9ms CPU)". */
export function figuresText(stats: OperatorStats): string {
  const { rowsOut, bytesOut, tasksDone, wall, cpu, retries, errored, byReference, ranAs } = stats;
  if (ranAs === "exchange") return "ran as an exchange, because the kernel had too little memory";
  const parts = [counted(rowsOut.total, "row")];
  // Slices pass on blocks of other operators and have no tasks.
  if (tasksDone > 0) {
    parts.push(formatSize(Math.round(bytesOut.total)), counted(tasksDone, "task"));
    parts.push(`${formatDuration(wall.total)} of work (${formatDuration(cpu.total)} CPU)`);
  }
  if (byReference !== undefined) {
    const width = formatSize(Math.round(byReference.bytes / Math.max(1, byReference.rows)));
    parts.push(`${counted(byReference.rows, "wide row")} by reference (${width} a row)`);
  }
  if (retries > 0) parts.push(`retries: ${retries}`);
  if (errored > 0) parts.push(`${counted(errored, "row")} dropped by onError`);
  return parts.join(", ");
}
