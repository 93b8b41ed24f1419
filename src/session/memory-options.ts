/** Thresholds of workers and of the node, from what the user said. */
import type { MemorySettings } from "../protocol/index.ts";
import type { SessionOptions } from "./options.ts";

export function memorySettings(options: SessionOptions): MemorySettings {
  const { target = 0.6, spill = 0.7, pause = 0.8, terminate = 0.95 } = options.worker?.memory ?? {};
  return {
    thresholds: { target, spill, pause, terminate },
    interval: 200,
    measure: options.measure ?? "auto",
    recentToOldTime: 30_000,
    pausedTooLong: 30_000,
    memoryUsageThreshold: options.memoryUsageThreshold ?? 0.95,
    memoryMonitorRefreshMs: options.memoryMonitorRefreshMs ?? 250,
  };
}
