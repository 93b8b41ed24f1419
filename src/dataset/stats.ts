/** What the last run of a dataset did, as fields and as text. */
import type { Bytes, JobStats, OperatorStats, Spread } from "../protocol/index.ts";
import { learnedText } from "../stages/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";

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

export function datasetStats(job: JobStats | null): DatasetStats {
  return {
    job,
    operators: job?.operators ?? [],
    seconds: job?.seconds ?? 0,
    spilledBytes: job?.spilledBytes ?? 0,
    restoredBytes: job?.restoredBytes ?? 0,
    toString: () => (job === null ? "This dataset has not run yet." : statsText(job)),
  };
}

function statsText(job: JobStats): string {
  const lines = job.operators.flatMap((operator, i) => operatorLines(operator, i, job));
  const peaks = [
    `worker ${formatSize(job.peakWorkerMemory)}`,
    `supervisor ${formatSize(job.peakSupervisorMemory)}`,
    `program ${formatSize(job.peakProgramMemory)}`,
    `store ${formatSize(job.peakStoreBytes)}`,
  ];
  lines.push(`Total: ${formatDuration(job.seconds * 1000)}; peak memory: ${peaks.join(", ")}${spillText(job)}`);
  return lines.join("\n");
}

function spillText({ spilledBytes, restoredBytes }: JobStats): string {
  if (spilledBytes + restoredBytes === 0) return "";
  return `. Spilled ${formatSize(spilledBytes)}, restored ${formatSize(restoredBytes)}`;
}

function operatorLines(operator: OperatorStats, index: number, job: JobStats): readonly string[] {
  const { tasks, tasksDone, name, skipped } = operator;
  const lines = [
    // Stages run side by side, so each is told the time that the job took as a whole.
    `Stage ${index + 1} ${name}: ${tasksDone}/${tasks} blocks executed in ${job.seconds.toFixed(1)}s`,
    `  Wall time: ${spread(operator.wall, formatDuration)}`,
    `  CPU time: ${spread(operator.cpu, formatDuration)}`,
    `  Rows out: ${spread(operator.rowsOut, (rows) => String(Math.round(rows)))}`,
    `  Bytes out: ${spread(operator.bytesOut, formatSize)}`,
  ];
  if (operator.retries > 0) lines.push(`  Retries: ${operator.retries}`);
  const learned = learnedText(operator);
  if (learned !== null) lines.push(`  Memory: ${learned}`);
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
