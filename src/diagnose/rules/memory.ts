/** Finds the operator with the most memory, heavy spilling, workers that keep memory, and tasks that ran out of it. */
import type { Bytes } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import type { ExaminedOperator } from "../examined.ts";
import { type JobRule, type OperatorRule, percent, times, whole } from "../rule.ts";

const LEAST_SPILLED: Bytes = 64 * 2 ** 20;
/** Share of the bytes that the job's tasks made. */
const MUCH_SPILLED = 0.5;
/** Shares of a worker's memory limit. */
const MUCH_KEPT = 0.5;
const MUCH_GROWN = 0.1;
const MUCH_IN_A_TASK = 0.5;
/** Near the share at which a worker is paused: a task that is a little larger does not fit. */
const HARDLY_FITS = 0.75;

export const spilling: JobRule = ({ madeBytes, spilledBytes, restoredBytes, capacity }) => {
  if (spilledBytes < LEAST_SPILLED || spilledBytes < madeBytes * MUCH_SPILLED) return null;
  const factor =
    madeBytes === 0 ? "" : `, ${times(spilledBytes / madeBytes)} the ${formatSize(madeBytes)} of its blocks`;
  return {
    kind: "spilling",
    severity: spilledBytes + restoredBytes > 2 * madeBytes ? "warning" : "info",
    operator: null,
    text: `The job wrote ${formatSize(spilledBytes)} to disk${factor}, and read ${formatSize(restoredBytes)} back: the store has ${formatSize(capacity)}.`,
    remedies: [
      `Give the store more room: objectStoreMemory of ${formatSize(capacity + spilledBytes)} would have held all of it.`,
      "Keep fewer columns before sorts, joins, groups and materialize(): select what is used later.",
      "Process the data a window at a time: window({ bytes }).",
      "Spill to a local NVMe disk: localDirectory.",
    ],
  };
};

/**
 * Of all operators with so much, the one whose task added the most: a peak includes what other tasks left in a worker.
 * The wide kernel has the memory that is free, whatever it needs.
 */
export const fullestOperator: JobRule = ({ operators, workerLimit, workers }) => {
  const [fullest] = operators
    .filter(({ place }) => place === "worker")
    .sort((one, two) => two.addedMemory - one.addedMemory);
  if (workerLimit === null || fullest === undefined || fullest.addedMemory < workerLimit * MUCH_IN_A_TASK) return null;
  const { id, name, functions, peakMemory, addedMemory } = fullest;
  const fewer = Math.max(1, Math.floor(workers / 2));
  return {
    kind: "memory",
    severity: peakMemory >= workerLimit * HARDLY_FITS ? "warning" : "info",
    operator: id,
    text:
      `${name} needs the most memory: a task added ${formatSize(addedMemory)} to its worker, which then had ` +
      `${formatSize(peakMemory)}, ${percent(peakMemory / workerLimit)} of its ${formatSize(workerLimit)}.`,
    remedies: [
      fewerRows(fullest),
      `Reserve what a task needs (the option memory: ${formatSize(peakMemory)} or more): the worker gets a larger limit if it needs one, and fewer tasks run at once.`,
      ...(workers > 1 ? [`Use fewer workers (${workers} now): with ${fewer}, each has more memory.`] : []),
      functions.length === 0
        ? "Read fewer columns and smaller parts of files: select, where, overrideNumBlocks."
        : `Find the line that has the memory with a heap profile: profile: true on ${functions.join(" or ")}.`,
    ],
  };
};

function fewerRows({ batchSize, tasksDone, rowsIn }: ExaminedOperator): string {
  if (batchSize !== null) {
    return `Use a smaller batchSize (${batchSize} now, for example ${Math.max(1, Math.round(batchSize / 4))}): a batch and what the function makes of it are in memory together.`;
  }
  const rows = tasksDone === 0 ? "" : ` (about ${whole(rowsIn / tasksDone)} rows of input each now)`;
  return `Give a task fewer rows${rows}: a higher overrideNumBlocks, smaller blocks (targetMaxBlockSize).`;
}

export const unmanaged: JobRule = ({ peakUnmanaged, grownUnmanaged, workerLimit }) => {
  if (workerLimit === null) return null;
  const isGrowing = grownUnmanaged !== null && grownUnmanaged >= workerLimit * MUCH_GROWN;
  if (!isGrowing && peakUnmanaged < workerLimit * MUCH_KEPT) return null;
  return {
    kind: "unmanaged",
    severity: isGrowing || grownUnmanaged === null ? "warning" : "info",
    operator: null,
    text:
      `A worker kept ${formatSize(peakUnmanaged)} that are neither blocks nor known worker data, ` +
      `${percent(peakUnmanaged / workerLimit)} of its ${formatSize(workerLimit)}: unmanaged memory, which cannot go to disk.` +
      growthText(grownUnmanaged, isGrowing),
    remedies: [
      "Look for a function that keeps what it made: a cache, an array or a Map outside of the function that grows.",
      "Put data that must stay into worker data (the session option data), which is counted as managed memory.",
      "Use a smaller batchSize, or fewer calls at once (maxInFlight).",
      "Call session.trim() if the allocator keeps memory that was freed.",
    ],
  };
};

function growthText(grown: Bytes | null, isGrowing: boolean): string {
  if (grown === null) return "";
  if (!isGrowing) return " It has hardly grown since the first half of the job: a function may have loaded it once.";
  return ` It grows: by ${formatSize(grown)} since the first half of the job.`;
}

export const memoryRetries: OperatorRule = ({ id, name, oomRetries, batchSize }, { workerLimit, workers }) => {
  if (oomRetries === 0) return null;
  const size =
    batchSize === null
      ? "Give the function fewer rows at once: a smaller batchSize, smaller blocks (targetMaxBlockSize)."
      : `Use a batchSize below ${batchSize}: the tasks that ran again had fewer rows at once.`;
  const limit = workerLimit === null ? "" : ` (a worker has ${formatSize(workerLimit)} now)`;
  return {
    kind: "memoryRetry",
    severity: "warning",
    operator: id,
    text: `${name} ran out of memory and was run again ${oomRetries === 1 ? "once" : `${oomRetries} times`}.`,
    remedies: [
      size,
      `Reserve what the function needs with its option memory${limit}.`,
      `Use fewer workers than ${workers}, so that each has more memory.`,
    ],
  };
};

export const retries: OperatorRule = ({ id, name, retries: count }) => {
  if (count === 0) return null;
  return {
    kind: "retry",
    severity: "warning",
    operator: id,
    text: `${name}: ${count === 1 ? "a worker" : `${count} times a worker`} died while it ran a task, which was run again.`,
    remedies: [
      "Read the worker's log (~/.local/state/spillway/latest), which ends with the reason.",
      "If a native module crashes, it crashes in every run: update it, or do without it.",
    ],
  };
};
