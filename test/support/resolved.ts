/** What settings come to, for tests without a machine: the schema's defaults, no memory limits, and changes to them. */
import { leaves, plainSettings, type ResolvedSettings, SCHEMA } from "../../src/config/index.ts";
import { valuesOf } from "../../src/config/setting.ts";
import type { SchedulerOptions } from "../../src/scheduler/index.ts";
import { NO_THRESHOLDS } from "./memory-settings.ts";

const defaults = new Map(leaves(SCHEMA).map(([path, { fallback }]) => [path, fallback]));
const PLAIN = plainSettings(valuesOf(SCHEMA, (path) => defaults.get(path)));

export function resolvedSettings(more: Partial<ResolvedSettings>): ResolvedSettings {
  const { workers = 2, resources = { cpu: workers, gpu: 0, memory: Number.POSITIVE_INFINITY } } = more;
  return {
    ...PLAIN,
    workers,
    extraWorkers: 8,
    capacity: 4 * 2 ** 20,
    targetMaxBlockSize: 2 ** 20,
    targetMinBlockSize: false,
    targetShuffleMaxBlockSize: 2 ** 20,
    localDirectory: "/",
    localDirectories: ["/"],
    maxSpill: null,
    workerMemory: null,
    automaticLimits: false,
    isStoreGiven: false,
    areWorkersGiven: false,
    claim: { memory: 0, options: [], most: Number.MAX_SAFE_INTEGER },
    workerHeap: null,
    managedTarget: null,
    workerLease: { threads: 1, memory: null },
    wideLease: { threads: 2, memory: null },
    pool: { memory: 2 ** 30, overhead: 0, worker: 0, threads: 2 },
    memory: NO_THRESHOLDS,
    resources,
    eventFileLimit: 2 ** 26,
    devices: Array.from({ length: resources.gpu }, (_, i) => String(i)),
    workerEnv: {},
    ...more,
  };
}

/** Options of a scheduler without leases and without memory readings. */
export function schedulerOptions(more: Partial<SchedulerOptions>): SchedulerOptions {
  const { pool = null, memory = null, arenaSize, ...settings } = more;
  const resolved = resolvedSettings(settings);
  return { ...resolved, pool, memory, arenaSize: arenaSize ?? resolved.capacity * 8 };
}
