/** What the last run of a dataset did, as fields and as text. */
import type { Bytes, JobStats, OperatorStats, Spread } from "../protocol/index.ts";
import { appetiteText, learnedText } from "../stages/index.ts";
import { operatorTitle } from "../titles/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";
import { shownAs } from "./shown-as.ts";

export interface DatasetStats {
  /** Null: nothing has run yet. */
  readonly job: JobStats | null;
  readonly operators: readonly OperatorStats[];
  readonly seconds: number;
  /** Bytes of blocks that the session's store wrote to disk, and read back, during the run. */
  readonly spilledBytes: Bytes;
  readonly restoredBytes: Bytes;
  toString(): string;
}

/** `endedEarly`: the last run ended before it had figures. */
export function datasetStats(job: JobStats | null, endedEarly = false): DatasetStats {
  const fields = {
    job,
    operators: job?.operators ?? [],
    seconds: job?.seconds ?? 0,
    spilledBytes: job?.spilledBytes ?? 0,
    restoredBytes: job?.restoredBytes ?? 0,
  };
  return shownAs(fields, () => (job === null ? noFigures(endedEarly) : statsText(job)));
}

export function noFigures(endedEarly: boolean): string {
  return endedEarly ? "The last run ended before it had figures." : "This dataset has not run yet.";
}

function statsText(job: JobStats): string {
  const lines = job.operators.flatMap((operator, i) => operatorLines(operator, i));
  const peaks = [
    `worker ${formatSize(job.peakWorkerMemory)}`,
    ...readPeak("supervisor", job.peakSupervisorMemory),
    ...readPeak("program", job.peakProgramMemory),
    `store ${formatSize(job.peakStoreBytes)}`,
  ];
  lines.push(`Total: ${formatDuration(job.seconds * 1000)}; peak memory: ${peaks.join(", ")}${spillText(job)}`);
  return lines.join("\n");
}

/** A run may end before the memory of the session's own processes was read: 0 would be a wrong figure. */
function readPeak(name: string, peak: Bytes): readonly string[] {
  return peak === 0 ? [] : [`${name} ${formatSize(peak)}`];
}

function spillText({ spilledBytes, restoredBytes }: JobStats): string {
  if (spilledBytes + restoredBytes === 0) return "";
  return `. Spilled ${formatSize(spilledBytes)}, restored ${formatSize(restoredBytes)}`;
}

function operatorLines(operator: OperatorStats, index: number): readonly string[] {
  const {
    tasks,
    tasksDone,
    tasksRunning,
    name,
    kind,
    skipped,
    seconds,
    blocks,
    peakMemory,
    spilledBytes,
    restoredBytes,
  } = operator;
  const running = tasksRunning === 0 ? "" : `, ${tasksRunning} running`;
  const lines = [
    `Stage ${index + 1} ${operatorTitle(name, kind.functions)}: ${tasksDone}/${tasks} blocks executed in ${seconds.toFixed(1)}s${running}`,
    `  Wall time: ${spread(operator.wall, formatDuration)}`,
    `  CPU time: ${spread(operator.cpu, formatDuration)}`,
    `  Rows out: ${spread(operator.rowsOut, (rows) => String(Math.round(rows)))}`,
    `  Bytes out: ${spread(operator.bytesOut, formatSize)}`,
  ];
  if (blocks > 0) lines.push(`  Blocks out: ${blocks}`);
  if (peakMemory > 0) {
    lines.push(`  Peak memory of a task: ${formatSize(peakMemory)}; added by one: ${formatSize(operator.addedMemory)}`);
  }
  if (spilledBytes + restoredBytes > 0) {
    lines.push(`  Spilled: ${formatSize(spilledBytes)}; restored: ${formatSize(restoredBytes)}`);
  }
  if (operator.retries > 0) lines.push(`  Retries: ${operator.retries}`);
  const learned = learnedText(operator);
  if (learned !== null) lines.push(`  Memory: ${learned}`);
  const appetite = appetiteText(operator);
  if (appetite !== null) lines.push(`  Expected memory of a task: ${appetite}`);
  if (operator.errored > 0) lines.push(`  Rows dropped by onError: ${operator.errored}`);
  const held = Object.entries(operator.heldBack).filter(([, seconds]) => seconds > 0);
  if (held.length > 0) {
    const policies = held.map(([policy, seconds]) => `${formatDuration(seconds * 1000)} by ${policy}`);
    lines.push(`  Time in backpressure: ${policies.join(", ")}`);
  }
  if (skipped.files + skipped.rowGroups + skipped.rows + skipped.columns > 0) {
    lines.push(
      `  Skipped: ${skipped.files} files, ${skipped.rowGroups} row groups, ${skipped.rows} rows, ${skipped.columns} columns`,
    );
  }
  return lines;
}

function spread({ min, max, mean, total }: Spread, format: (value: number) => string): string {
  return `${format(min)} min, ${format(max)} max, ${format(mean)} mean, ${format(total)} total`;
}
