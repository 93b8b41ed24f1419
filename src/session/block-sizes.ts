/**
 * How large blocks are to be: the defaults, the presets, what the user says, and what the store can hold of it. A block is
 * held by whoever makes it while the one before it is read, by every worker at once: hence capacity / (2 × workers).
 */
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import { formatSize, nearest } from "../units/index.ts";
import type { SessionOptions, Size } from "./options.ts";

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

const PRESETS = {
  etl: { targetMaxBlockSize: 256 * MIB, targetMinBlockSize: 64 * MIB },
  image: { targetMaxBlockSize: 128 * MIB, targetMinBlockSize: 32 * MIB },
  analytics: { targetMaxBlockSize: 512 * MIB, targetMinBlockSize: 128 * MIB },
  memoryConstrained: { targetMaxBlockSize: 64 * MIB, targetMinBlockSize: 16 * MIB },
  shuffleHeavy: { targetShuffleMaxBlockSize: 1024 * MIB },
} as const satisfies Record<string, Partial<Sizes>>;

/** Block sizes for a kind of work. */
export type Preset = keyof typeof PRESETS;

/** Arrow counts the bytes of a column's text in 31 bits. */
const LARGEST_BLOCK: Bytes = 2 ** 31 - 1;
/** A minimum that nobody asked for is at most this part of the maximum, as in the presets. */
const MIN_OF_MAX = 1 / 4;

export interface BlockSizes {
  readonly targetMaxBlockSize: Bytes;
  readonly targetMinBlockSize: Bytes | false;
  readonly targetShuffleMaxBlockSize: Bytes;
  /** What was lowered for the store's sake; null: nothing that the user would care for. */
  readonly notice: string | null;
}

export function blockSizes(
  options: SessionOptions,
  capacity: Bytes,
  workers: number,
  bytesOf: (name: keyof Sizes, value: Size) => Bytes,
): BlockSizes {
  const preset: Partial<Sizes> = options.preset === undefined ? {} : presetSizes(options.preset);
  const fits = Math.min(LARGEST_BLOCK, Math.floor(capacity / (2 * workers)));
  const asked = (name: keyof Sizes): Bytes => {
    const value = options[name];
    if (value === undefined || value === false) return preset[name] ?? DEFAULTS[name];
    const bytes = bytesOf(name, value);
    if (bytes < 1) throw new OptionError(`session: ${name} must be at least one byte; false turns it off.`);
    return bytes;
  };
  const max = options.targetMaxBlockSize === false ? Math.min(LARGEST_BLOCK, capacity) : asked("targetMaxBlockSize");
  const least = asked("targetMinBlockSize");
  const own = options.targetMinBlockSize;
  if (own !== undefined && own !== false && least > max) {
    throw new OptionError(
      `session: targetMinBlockSize of ${formatSize(least)} is above targetMaxBlockSize, which is ${formatSize(max)}: lower the one or raise the other.`,
    );
  }
  const lowered: string[] = [];
  const within = (name: keyof Sizes, bytes: Bytes, tell: boolean): Bytes => {
    if (bytes > fits && tell) lowered.push(`${name} from ${formatSize(bytes)}`);
    return Math.min(bytes, fits);
  };
  const target = options.targetMaxBlockSize === false ? max : within("targetMaxBlockSize", max, true);
  const shuffle = asked("targetShuffleMaxBlockSize");
  // The default is more than many machines' stores can hold, and concerns nobody who does not shuffle.
  const wantsShuffle = (options.targetShuffleMaxBlockSize ?? preset.targetShuffleMaxBlockSize) !== undefined;
  const most = own === undefined ? Math.floor(target * MIN_OF_MAX) : target;
  return {
    targetMaxBlockSize: target,
    targetMinBlockSize: own === false ? false : Math.min(least, most),
    targetShuffleMaxBlockSize: within("targetShuffleMaxBlockSize", shuffle, wantsShuffle),
    notice:
      lowered.length === 0
        ? null
        : `Block sizes lowered to ${formatSize(fits)} (${lowered.join(", ")}): the store holds ${formatSize(capacity)}, which is two such blocks a worker (workers: ${workers}). A larger objectStoreMemory or fewer workers allow larger blocks.`,
  };
}

function presetSizes(name: string): Partial<Sizes> {
  const found = Object.entries(PRESETS).find(([known]) => known === name);
  if (found !== undefined) return found[1];
  const known = Object.keys(PRESETS);
  const meant = typeof name === "string" ? nearest(name, known) : null;
  const hint = meant === null ? "" : ` Did you mean "${meant}"?`;
  throw new OptionError(`session: there is no preset ${JSON.stringify(name)}.${hint} Presets: ${known.join(", ")}.`);
}
