/** Thresholds for tests: what a session has that says nothing about memory, and changes to it. */
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

/** Without the node's monitor, unless they say otherwise. */
export function settings(thresholds: Partial<Thresholds> = {}, more: Partial<MemorySettings> = {}): MemorySettings {
  return { ...MEMORY, memoryMonitorRefreshMs: 0, ...more, thresholds: { ...MEMORY.thresholds, ...thresholds } };
}

/** Nothing is done about memory. */
export const NO_THRESHOLDS = settings({ target: false, spill: false, pause: false, terminate: false });
