/** Finds tasks that the other tasks had to wait for. */
import { formatDuration } from "../../units/index.ts";
import { type OperatorRule, percent, times, whole } from "../rule.ts";

const FEWEST_TASKS = 4;
const LONG = 1_000;
const SKEWED = 3;
/** Share of the job's time. */
const MOST_OF_IT = 0.5;

/** The longest task beside the mean of the others. */
export const skew: OperatorRule = (operator, { duration }) => {
  const { id, name, tasksDone, wall, longest, rowsOut, mostRows } = operator;
  if (tasksDone < FEWEST_TASKS || longest < LONG || longest < duration * 0.1) return null;
  const others = (wall - longest) / (tasksDone - 1);
  if (others <= 0 || longest < SKEWED * others) return null;
  const rest = (rowsOut - mostRows) / (tasksDone - 1);
  const inRows = mostRows > SKEWED * Math.max(1, rest);
  const rows = inRows ? ` One task gave ${whole(mostRows)} of ${whole(rowsOut)} rows.` : "";
  return {
    kind: "skew",
    severity: "warning",
    operator: id,
    text: `${name}: the longest of ${tasksDone} tasks took ${formatDuration(longest)}, ${times(longest / others)} as long as the others (${formatDuration(others)} on average).${rows}`,
    remedies: inRows
      ? [
          "Group, join or partition by a key with more even values, or by one more column.",
          "Process the most frequent values of the key (often null, empty or 0) separately.",
          "Repartition before the operator, so that its tasks get equally many rows.",
        ]
      : [
          "Repartition before the operator, so that its tasks get equally many rows.",
          "Look for files or rows that are much larger than the others; a higher overrideNumBlocks cuts the input finer.",
          "Give functions that wait for a service a timeout.",
        ],
  };
};

/** One task alone, while the other workers have nothing to do. */
export const oneTask: OperatorRule = ({ id, name, place, tasks, longest, duration, isSource }, job) => {
  if (place !== "worker" || tasks !== 1 || job.workers < 2) return null;
  const time = Math.max(longest, duration);
  if (time < LONG || time < job.duration * MOST_OF_IT) return null;
  return {
    kind: "oneTask",
    severity: "warning",
    operator: id,
    text: `${name} was one task of ${formatDuration(time)}, ${percent(Math.min(1, time / job.duration))} of the job, while ${job.workers - 1} of ${job.workers} workers could not help it.`,
    remedies: isSource
      ? [
          `Read in more parts: overrideNumBlocks: ${job.workers * 4}.`,
          "Use a format that can be read in parts (Parquet, uncompressed CSV or JSON lines), or several files.",
          `Repartition after reading: repartition(${job.workers * 4}).`,
        ]
      : [
          `Repartition before it: repartition(${job.workers * 4}).`,
          "Group by a key with more values, or let several tasks aggregate first.",
        ],
  };
};
