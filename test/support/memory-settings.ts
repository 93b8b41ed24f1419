/** Thresholds for tests: those of a session without any settings of memory, and changes to them. */
import type { MemorySettings, Thresholds } from "../../src/protocol/index.ts";

export const MEMORY: MemorySettings = {
  thresholds: { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95 },
  interval: 200,
  measure: "auto",
  recentToOldTime: 30_000,
  pausedTooLong: 30_000,
  memoryUsageThreshold: 0.95,
  memoryMonitorRefreshMs: 250,
};

/** Without the node's monitor, unless the test asks for it. */
export function settings(thresholds: Partial<Thresholds> = {}, more: Partial<MemorySettings> = {}): MemorySettings {
  return { ...MEMORY, memoryMonitorRefreshMs: 0, ...more, thresholds: { ...MEMORY.thresholds, ...thresholds } };
}

/** No threshold has any effect. */
export const NO_THRESHOLDS = settings({ target: false, spill: false, pause: false, terminate: false });
