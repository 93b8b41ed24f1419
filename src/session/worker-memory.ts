/** The memory of one worker: its limit, its heap limit, and the thresholds. */
import type { Config, ResolvedSettings, Settings } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import { automaticLimit, heapFor, heapThatFits, type Node } from "../memory/index.ts";
import type { Bytes, MemorySettings } from "../protocol/index.ts";
import { formatSize, parseDuration, parseSize } from "../units/index.ts";

type ResolvedWorkerMemory = Pick<ResolvedSettings, "workerMemory" | "workerHeap" | "managedTarget" | "memory">;

/** Node and the kernel's library take about 50 MiB before the first row. */
const SMALLEST_WORKER: Bytes = 64 << 20;

/** `machine`: all memory of the machine, including what the session may not use. */
export function workerMemory(
  config: Config,
  node: Node,
  workers: number,
  machine: Bytes,
): ResolvedWorkerMemory & { readonly notice: string | null } {
  const { memoryLimit, worker } = config.values;
  const asked = memoryLimit === "auto" ? automaticLimit(node, workers) : askedLimit(config, machine);
  const limit = asked === null ? null : Math.min(asked, machine);
  if (limit !== null && limit < SMALLEST_WORKER) {
    const less = `is too small: a worker needs at least ${formatSize(SMALLEST_WORKER)}.`;
    throw new OptionError(
      memoryLimit === "auto"
        ? `session: ${formatSize(node.memory)} of memory for ${workers} ${workers === 1 ? "worker" : "workers"} ${less} Use fewer \`workers\`, a larger \`resourceLimits.memory\`, or a larger machine or container.`
        : `${config.said("memoryLimit")}: memoryLimit of ${formatSize(limit)} ${less}`,
    );
  }
  const { target } = worker.memory;
  return {
    workerMemory: limit,
    workerHeap: limit === null ? null : memoryLimit === "auto" ? heapThatFits(node, workers) : heapFor(limit),
    managedTarget: limit === null || target === false ? null : Math.floor(limit * target),
    memory: memorySettings(config.values),
    notice:
      asked === limit || asked === null
        ? null
        : `memoryLimit of ${formatSize(asked)} is more than this machine or its container has: lowered to ${formatSize(machine)}.`,
  };
}

/** Null: no limit. */
function askedLimit({ values: { memoryLimit }, said }: Config, machine: Bytes): Bytes | null {
  const name = `${said("memoryLimit")}: memoryLimit`;
  const bytes = memoryLimit === false ? 0 : parseSize(memoryLimit, { name, whole: machine });
  return bytes === 0 ? null : bytes;
}

function memorySettings(settings: Settings): MemorySettings {
  const { target, spill, pause, terminate, ...times } = settings.worker.memory;
  const { memoryUsageThreshold: usage, memoryMonitorRefreshMs } = settings;
  return {
    thresholds: { target, spill, pause, terminate },
    interval: parseDuration(times.monitorInterval, "worker.memory.monitorInterval"),
    measure: settings.measure,
    recentToOldTime: parseDuration(times.recentToOldTime, "worker.memory.recentToOldTime"),
    pausedTooLong: parseDuration(times.pausedTooLong, "worker.memory.pausedTooLong"),
    // Without a threshold there is nothing to measure for.
    memoryUsageThreshold: usage === false ? 1 : usage,
    memoryMonitorRefreshMs: usage === false ? 0 : memoryMonitorRefreshMs,
  };
}
