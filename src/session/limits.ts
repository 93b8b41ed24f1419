/** How much of the machine a session may have: what the user limits, and what there is where nothing is said. */
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import { nearest, parseSize } from "../units/index.ts";

/** Bytes, "4 GiB", or a fraction of the machine (0.3, "30%"). */
export type Size = number | string;

export interface ResourceLimits {
  /** Cores that tasks may have at once, or a share of the machine's ("80%"). Default: as many as there are workers. */
  readonly cpu?: number | string;
  /** GPUs. Default: those that this machine shows, or CUDA_VISIBLE_DEVICES where it is set. */
  readonly gpu?: number;
  /** Memory that tasks may ask for in all. Default: the machine's. */
  readonly memory?: Size;
  /** The store is no larger than this. */
  readonly objectStoreMemory?: Size;
}

export interface ResolvedLimits {
  readonly cpu: number;
  /** Names of the GPUs, as CUDA_VISIBLE_DEVICES gives them. */
  readonly devices: readonly string[];
  readonly memory: Bytes;
  readonly objectStoreMemory: Bytes;
}

const KEYS = ["cpu", "gpu", "memory", "objectStoreMemory"];

export function resolveLimits(limits: ResourceLimits, total: Bytes): ResolvedLimits {
  if (typeof limits !== "object" || limits === null) {
    throw new OptionError('session: resourceLimits is an object such as { cpu: 2, memory: "4 GiB" }.');
  }
  for (const key of Object.keys(limits)) {
    if (KEYS.includes(key)) continue;
    const meant = nearest(key, KEYS);
    const hint = meant === null ? "" : ` Did you mean "${meant}"?`;
    throw new OptionError(`session: resourceLimits has no "${key}".${hint} Limits: ${KEYS.join(", ")}.`);
  }
  const size = (name: string, value: Size) =>
    parseSize(value, { name: `session: resourceLimits.${name}`, whole: total });
  return {
    cpu: limits.cpu === undefined ? availableParallelism() : cores(limits.cpu),
    devices: limits.gpu === undefined ? visibleDevices() : declared(limits.gpu),
    memory: limits.memory === undefined ? total : size("memory", limits.memory),
    objectStoreMemory:
      limits.objectStoreMemory === undefined
        ? Number.POSITIVE_INFINITY
        : size("objectStoreMemory", limits.objectStoreMemory),
  };
}

/** A number is a number of cores, also 1: only a text is a share. */
function cores(value: number | string): number {
  const share = typeof value === "string" ? /^\s*([0-9]*\.?[0-9]+)\s*%\s*$/.exec(value) : null;
  const cpu = share === null ? value : Math.max(1, (availableParallelism() * Number(share[1])) / 100);
  if (typeof cpu === "number" && Number.isFinite(cpu) && cpu >= 1 && !(share !== null && Number(share[1]) > 100)) {
    return cpu;
  }
  throw new OptionError(
    `session: resourceLimits.cpu must be a number of cores, at least 1, or a share such as "80%", not ${JSON.stringify(value)}.`,
  );
}

/** The user's word counts, also where the machine shows no GPU. */
function declared(count: number): readonly string[] {
  if (!Number.isInteger(count) || count < 0) {
    throw new OptionError(`session: resourceLimits.gpu must be a whole number of GPUs, not ${JSON.stringify(count)}.`);
  }
  const allowed = allowedDevices();
  if (allowed !== null && count > allowed.length) {
    throw new OptionError(
      `session: resourceLimits.gpu is ${count}, and CUDA_VISIBLE_DEVICES allows ${allowed.length} (${allowed.join(", ")}).`,
    );
  }
  return allowed?.slice(0, count) ?? Array.from({ length: count }, (_, i) => String(i));
}

function visibleDevices(): readonly string[] {
  return allowedDevices() ?? installedDevices();
}

/** What whoever started the program leaves to it. */
function allowedDevices(): readonly string[] | null {
  const names = process.env.CUDA_VISIBLE_DEVICES;
  return names === undefined ? null : names.split(",").filter((name) => name !== "" && name !== "-1");
}

function installedDevices(): readonly string[] {
  try {
    const numbers = readdirSync("/dev").flatMap((name) => /^nvidia([0-9]+)$/.exec(name)?.[1] ?? []);
    return numbers.sort((a, b) => Number(a) - Number(b));
  } catch {
    // A system without /dev has no devices to count.
    return [];
  }
}
