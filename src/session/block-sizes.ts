/**
 * The sizes of blocks: defaults, presets, the user's settings, and the limit that the store sets. Every worker holds
 * the block that it makes and the previous one while that is read: hence capacity / (2 × workers).
 */
import type { Config, Preset, ResolvedSettings, Size } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";

const MIB: Bytes = 2 ** 20;

interface Sizes {
  readonly targetMaxBlockSize: Bytes;
  readonly targetMinBlockSize: Bytes;
  readonly targetShuffleMaxBlockSize: Bytes;
}

const DEFAULTS: Sizes = {
  targetMaxBlockSize: 128 * MIB,
  targetMinBlockSize: MIB,
  targetShuffleMaxBlockSize: 512 * MIB,
};

const PRESETS: Readonly<Record<Preset, Partial<Sizes>>> = {
  etl: { targetMaxBlockSize: 256 * MIB, targetMinBlockSize: 64 * MIB },
  image: { targetMaxBlockSize: 128 * MIB, targetMinBlockSize: 32 * MIB },
  analytics: { targetMaxBlockSize: 512 * MIB, targetMinBlockSize: 128 * MIB },
  memoryConstrained: { targetMaxBlockSize: 64 * MIB, targetMinBlockSize: 16 * MIB },
  shuffleHeavy: { targetShuffleMaxBlockSize: 1024 * MIB },
};

/** Arrow counts the bytes of a column's text in 31 bits. */
const LARGEST_BLOCK: Bytes = 2 ** 31 - 1;
/** A worker assembles a block, holds the rows that go into it, and reads another block. */
const HEAP_SHARE = 1 / 4;
const SMALL_HEAP: Bytes = 2 ** 30;
/** A default minimum is at most this part of the maximum, as in the presets. */
const MIN_OF_MAX = 1 / 4;

interface BlockSizes extends Pick<ResolvedSettings, keyof Sizes> {
  /** What was lowered to fit the store; null: nothing that the user has to know. */
  readonly notice: string | null;
}

export function blockSizes(
  config: Config,
  { capacity, workers, workerHeap }: { readonly capacity: Bytes; readonly workers: number; readonly workerHeap: Bytes },
  bytesOf: (name: keyof Sizes, value: Size) => Bytes,
): BlockSizes {
  const options = config.values;
  const asked = askedSizes(config, bytesOf);
  const unlimited = options.targetMaxBlockSize === false;
  const inStore = Math.floor(capacity / (2 * workers));
  const fits = Math.min(LARGEST_BLOCK, inStore, Math.floor(workerHeap * HEAP_SHARE));
  // The blocks of all partitions are built at the same time, in memory that grows by doubling: too much for a small
  // heap.
  const shuffled = workerHeap < SMALL_HEAP ? Math.floor(fits / 4) : fits;
  const max = unlimited ? Math.min(LARGEST_BLOCK, capacity) : Math.min(asked.targetMaxBlockSize, fits);
  const ownMin = options.targetMinBlockSize;
  const mostMin = ownMin === undefined ? Math.floor(max * MIN_OF_MAX) : max;
  const lowered: (keyof Sizes)[] = [];
  if (!unlimited && asked.targetMaxBlockSize > fits) lowered.push("targetMaxBlockSize");
  // No notice for the default: it exceeds the stores of many machines, and matters only to sessions that shuffle.
  const defaultShuffle = asked.targetShuffleMaxBlockSize === DEFAULTS.targetShuffleMaxBlockSize;
  if (!defaultShuffle && asked.targetShuffleMaxBlockSize > fits) lowered.push("targetShuffleMaxBlockSize");
  const from = lowered.map((name) => `${name} from ${formatSize(asked[name])}`).join(", ");
  return {
    targetMaxBlockSize: max,
    targetMinBlockSize: ownMin === false ? false : Math.min(asked.targetMinBlockSize, mostMin),
    targetShuffleMaxBlockSize: Math.min(asked.targetShuffleMaxBlockSize, shuffled),
    notice:
      lowered.length === 0
        ? null
        : `Block sizes lowered to ${formatSize(fits)} (${from}): ${
            fits < inStore
              ? `a worker's heap is ${formatSize(workerHeap)}. A larger memoryLimit or fewer workers allow`
              : `the store holds ${formatSize(capacity)}, room for two such blocks per worker (workers: ${workers}). A larger objectStoreMemory or fewer workers allow`
          } larger blocks.`,
  };
}

/** The sizes that the user asks for, one by one or by a preset, before the store's limit applies. */
function askedSizes({ values: options, said }: Config, bytesOf: (name: keyof Sizes, value: Size) => Bytes): Sizes {
  const preset = options.preset === undefined ? {} : PRESETS[options.preset];
  const asked = (name: keyof Sizes): Bytes => {
    const value = options[name];
    if (value === undefined || value === false) return preset[name] ?? DEFAULTS[name];
    const bytes = bytesOf(name, value);
    if (bytes < 1) throw new OptionError(`${said(name)}: ${name} must be at least one byte.`);
    return bytes;
  };
  const max = asked("targetMaxBlockSize");
  const min = asked("targetMinBlockSize");
  const limits = options.targetMaxBlockSize !== false && options.targetMinBlockSize !== false;
  // A default minimum gives way to the maximum.
  if (limits && options.targetMinBlockSize !== undefined && min > max) {
    throw new OptionError(
      `${said("targetMinBlockSize")}: targetMinBlockSize of ${formatSize(min)} is above targetMaxBlockSize, which is ${formatSize(max)}. Lower targetMinBlockSize or raise targetMaxBlockSize.`,
    );
  }
  return {
    targetMaxBlockSize: max,
    targetMinBlockSize: min,
    targetShuffleMaxBlockSize: asked("targetShuffleMaxBlockSize"),
  };
}
