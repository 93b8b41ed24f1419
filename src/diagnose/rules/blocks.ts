/** Finds blocks that are too small or too large for the work on them. */
import { formatSize } from "../../units/index.ts";
import { type OperatorRule, whole } from "../rule.ts";

const MANY_BLOCKS = 200;
const SMALL = 128 * 1024;
/**
 * Share of a worker's memory limit. The worker holds an input block, an output block, and what a function makes of
 * them.
 */
const LARGE_FOR_WORKER = 0.25;
/** Blocks for each worker. When the store has room for fewer, the workers wait for each other. */
const FEW_FIT = 4;

export const smallBlocks: OperatorRule = ({ id, name, blocks, bytesOut, tasks }) => {
  const mean = blocks === 0 ? 0 : bytesOut / blocks;
  if (blocks < MANY_BLOCKS || mean >= SMALL) return null;
  return {
    kind: "smallBlocks",
    severity: "warning",
    operator: id,
    text: `${name} made ${whole(blocks)} blocks of ${formatSize(Math.round(mean))} each: with blocks this small, messages take most of the time.`,
    remedies: [
      `Read in fewer, larger parts: overrideNumBlocks below ${whole(tasks)}, or larger files.`,
      "Raise targetMinBlockSize, which joins small blocks, or turn it on.",
      "Repartition to fewer partitions after an operator that drops most rows.",
    ],
  };
};

export const largeBlocks: OperatorRule = ({ id, name, blocks, bytesOut }, { workers, workerLimit, capacity }) => {
  const mean = blocks === 0 ? 0 : bytesOut / blocks;
  const forWorker = workerLimit !== null && mean > workerLimit * LARGE_FOR_WORKER;
  const forStore = mean * workers * FEW_FIT > capacity && mean > SMALL;
  if (!forWorker && !forStore) return null;
  const whose = forWorker
    ? `a worker may have ${formatSize(workerLimit)}`
    : `the store of ${formatSize(capacity)} holds ${whole(capacity / mean)} of them for ${workers} workers`;
  return {
    kind: "largeBlocks",
    severity: "warning",
    operator: id,
    text: `${name} made blocks of ${formatSize(Math.round(mean))} each, and ${whose}.`,
    remedies: [
      `Make smaller blocks: targetMaxBlockSize of ${formatSize(Math.round(mean / 4))}.`,
      "Return fewer or narrower columns, or split large values into several rows.",
      "Give the store more room (objectStoreMemory), or use fewer workers.",
    ],
  };
};
