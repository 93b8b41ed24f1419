/** The part of the machine that a session may use: the user's limits, or else what the machine has. */
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Config } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import { parseSize } from "../units/index.ts";

interface ResolvedLimits {
  readonly cpu: number;
  /** Names of the GPUs, as CUDA_VISIBLE_DEVICES gives them. */
  readonly devices: readonly string[];
  readonly memory: Bytes;
  readonly objectStoreMemory: Bytes;
}

export function resolveLimits({ values, said }: Config, total: Bytes): ResolvedLimits {
  const limits = values.resourceLimits;
  const size = (name: "memory" | "objectStoreMemory", otherwise: Bytes) => {
    const path = `resourceLimits.${name}`;
    const value = limits[name];
    return value === undefined ? otherwise : parseSize(value, { name: `${said(path)}: ${path}`, whole: total });
  };
  return {
    cpu: limits.cpu === undefined ? availableParallelism() : cores(limits.cpu),
    devices: limits.gpu === undefined ? visibleDevices() : declared(limits.gpu, said("resourceLimits.gpu")),
    memory: size("memory", total),
    objectStoreMemory: size("objectStoreMemory", Number.POSITIVE_INFINITY),
  };
}

/** A number of cores, or "80%" of the machine's. */
function cores(value: number | string): number {
  return typeof value === "number" ? value : Math.max(1, (availableParallelism() * Number.parseFloat(value)) / 100);
}

/** The user's number counts, even if the machine shows fewer GPUs. */
function declared(count: number, source: string): readonly string[] {
  const allowed = allowedDevices();
  if (allowed !== null && count > allowed.length) {
    throw new OptionError(
      `${source}: resourceLimits.gpu is ${count}, but CUDA_VISIBLE_DEVICES allows ${allowed.length} (${allowed.join(", ")}). ` +
        "Lower the former or extend the latter.",
    );
  }
  return allowed?.slice(0, count) ?? Array.from({ length: count }, (_, i) => String(i));
}

function visibleDevices(): readonly string[] {
  return allowedDevices() ?? installedDevices();
}

/** The devices that the environment allows; null if it sets no limit. */
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
