/** When blocks leave memory and where they go: local directories, quota, compression, and a worker's target. */
import { tmpdir } from "node:os";
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import type { SpillCompression } from "../store/spill/index.ts";
import { checkZstd } from "../store/spill/zstd.ts";
import { nearest } from "../units/index.ts";
import type { Size } from "./limits.ts";
import type { SessionOptions } from "./options.ts";

export interface WorkerOptions {
  readonly memory?: {
    /**
     * Share of `memoryLimit` that the resident blocks of one worker's making may take; above it the least recently used go to
     * disk. 0.60 by default; false: only the store's capacity counts.
     */
    readonly target?: number | false;
    /** Share of `memoryLimit` in process memory above which its blocks go to disk until it is below `target`; 0.70. */
    readonly spill?: number | false;
    /** Share of `memoryLimit` above which it gets no more tasks; 0.80. */
    readonly pause?: number | false;
    /** Share of `memoryLimit` above which its process is ended and its task tried again; 0.95. */
    readonly terminate?: number | false;
  };
}

export interface ResolvedSpilling {
  /** The first of the next. */
  readonly localDirectory: string;
  readonly localDirectories: readonly string[];
  readonly maxSpill: Bytes | null;
  readonly spillCompression: SpillCompression;
  readonly managedTarget: Bytes | null;
}

const TARGET = 0.6;
const COMPRESSIONS: readonly SpillCompression[] = ["none", "lz4", "zstd", "auto"];

export function spilling(
  options: SessionOptions,
  workerMemory: Bytes,
  size: (name: "maxSpill", value: Size) => Bytes,
): ResolvedSpilling {
  const { maxSpill, spillCompression = "none" } = options;
  const directories = localDirectories(options.localDirectory ?? tmpdir());
  const [localDirectory] = directories;
  if (localDirectory === undefined) throw new OptionError("session: localDirectory must name at least one directory.");
  if (!COMPRESSIONS.includes(spillCompression)) {
    const meant = nearest(String(spillCompression), COMPRESSIONS);
    const hint = meant === null ? "" : ` Did you mean "${meant}"?`;
    throw new OptionError(
      `session: spillCompression is one of ${COMPRESSIONS.join(", ")}, not ${JSON.stringify(spillCompression)}.${hint}`,
    );
  }
  checkZstd(spillCompression);
  const target = workerTarget(options.worker ?? {});
  return {
    localDirectory,
    localDirectories: directories,
    maxSpill: maxSpill === undefined ? null : size("maxSpill", maxSpill),
    spillCompression,
    managedTarget: target === false ? null : Math.floor(workerMemory * target),
  };
}

function localDirectories(given: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const paths = list.filter((path): path is string => typeof path === "string" && path !== "");
  if (paths.length === list.length) return [...new Set(paths)];
  throw new OptionError(`session: localDirectory must be a path or a list of paths, not ${JSON.stringify(given)}.`);
}

function workerTarget(worker: WorkerOptions): number | false {
  if (typeof worker !== "object" || worker === null) {
    throw new OptionError(
      `session: worker is an object such as { memory: { target: 0.6 } }, not ${JSON.stringify(worker)}. How many there are is said by "workers".`,
    );
  }
  for (const [place, value, keys] of [
    ["worker", worker, ["memory"]],
    ["worker.memory", worker.memory ?? {}, ["target", "spill", "pause", "terminate"]],
  ] as const) {
    for (const key of Object.keys(value)) {
      if ((keys as readonly string[]).includes(key)) continue;
      throw new OptionError(`session: there is no option "${place}.${key}". Options: ${keys.join(", ")}.`);
    }
  }
  const target = worker.memory?.target ?? TARGET;
  if (target === false || (typeof target === "number" && target > 0 && target <= 1)) return target;
  throw new OptionError(
    `session: worker.memory.target must be a fraction above 0 and up to 1, or false, not ${JSON.stringify(target)}.`,
  );
}
