/**
 * Works out what the settings mean on this machine, and what the supervisor is told. The settings themselves are in
 * src/config.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import {
  type Config,
  plainSettings,
  type ResolvedSettings,
  readConfig,
  type SessionOptions,
  type Settings,
  type Size,
  settingsShown,
} from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import {
  extraWorkersThatFit,
  firstLease,
  fixedShares,
  heapThatFits,
  kernelThatFits,
  nodeMemory,
  workersThatFit,
} from "../memory/index.ts";
import type { Bytes, SettingShown } from "../protocol/index.ts";
import { checkSocketPath, type SupervisorOptions, sessionDirectory } from "../supervisor/index.ts";
import { formatSize, parseSize } from "../units/index.ts";
import { blockSizes } from "./block-sizes.ts";
import { resolveLimits } from "./limits.ts";
import { spilling } from "./spill-options.ts";
import { workerDataPayload } from "./worker-data-option.ts";
import { workerEnvironment } from "./worker-environment.ts";
import { workerMemory } from "./worker-memory.ts";

export type { SessionOptions } from "../config/index.ts";

/** What the session's processes are told, and what stays in the program. */
export interface ResolvedOptions extends ResolvedSettings {
  /** As they are shown to people. */
  readonly shown: readonly SettingShown[];
  /** The payload of the option `data`. */
  readonly workerData: string | null;
  /** Notices about options that were changed to fit. */
  readonly notices: readonly string[];
}

/** Smaller blocks cost more in messages than they are worth. */
const SMALLEST_BLOCK: Bytes = 64 << 10;

export function resolveOptions(options: SessionOptions = {}): ResolvedOptions {
  return onThisMachine(readConfig({ code: options }));
}

/** Resolves the settings in force on this machine. */
export function onThisMachine(config: Config): ResolvedOptions {
  const { values, said } = config;
  const total = nodeMemory();
  const size = (name: keyof Settings, value: Size) =>
    parseSize(value, { name: `${said(name)}: ${name}`, whole: total });
  const limits = resolveLimits(config, total);
  const capacity = Math.min(size("objectStoreMemory", values.objectStoreMemory), limits.objectStoreMemory);
  // Tasks may ask for what the user allows; processes are given only what exists.
  const memory = Math.min(limits.memory, total);
  const node = { memory, cores: Math.max(1, Math.floor(limits.cpu)), store: capacity };
  const workers = values.workers ?? workersThatFit(node);
  if (capacity < SMALLEST_BLOCK * 4 * workers) {
    throw new OptionError(
      `${said("objectStoreMemory")}: objectStoreMemory of ${formatSize(capacity)} is too small for ${workers} workers. They need at least ${formatSize(SMALLEST_BLOCK * 4 * workers)}.`,
    );
  }
  const { notice: limitNotice, ...worker } = workerMemory(config, node, workers, total);
  const workerHeap = worker.workerHeap ?? heapThatFits(node, workers);
  const { notice: sizeNotice, ...sizes } = blockSizes(config, { capacity, workers, workerHeap }, size);
  const fewerNotice =
    values.workers !== undefined || workers === node.cores
      ? null
      : `${workers} workers for ${node.cores} cores: of ${formatSize(memory)} of memory, the store may take ${formatSize(capacity)}. Set \`workers\` to choose the number yourself.`;
  const { overhead, worker: each } = fixedShares;
  const pool = { memory, overhead, worker: each, threads: node.cores };
  return {
    ...plainSettings(values),
    workers,
    capacity,
    ...worker,
    extraWorkers: extraWorkersThatFit(node, workers),
    workerLease: { threads: 1, memory: kernelThatFits(node, workers) },
    wideLease: firstLease(pool, capacity, workers),
    pool,
    automaticLimits: values.memoryLimit === "auto",
    isStoreGiven: config.sources.has("objectStoreMemory"),
    areWorkersGiven: values.workers !== undefined,
    claim: claimOf(config, { capacity, workers, memory, limit: worker.workerMemory }),
    resources: {
      cpu: values.resourceLimits.cpu === undefined ? workers : limits.cpu,
      gpu: limits.devices.length,
      memory: limits.memory,
    },
    devices: limits.devices,
    ...sizes,
    ...spilling(values, size),
    eventFileLimit: size("eventFileLimit", values.eventFileLimit),
    workerEnv: workerEnvironment(values),
    workerData: values.data === undefined ? null : workerDataPayload(values.data),
    shown: settingsShown(config),
    notices: [limitNotice, sizeNotice, fewerNotice].filter((notice) => notice !== null),
  };
}

/** What the user's own options need of the node's memory, together with the program, the supervisor and the system. */
function claimOf(
  { sources, values }: Config,
  given: { readonly capacity: Bytes; readonly workers: number; readonly memory: Bytes; readonly limit: Bytes | null },
): ResolvedSettings["claim"] {
  const { overhead, worker } = fixedShares;
  // A limit is what a worker may have at most; less than that it needs in any case.
  const each = Math.min(worker, given.limit ?? worker);
  const limited = values.memoryLimit === "auto" || given.limit === null ? 0 : given.limit;
  const needs: readonly (readonly [name: string, isGiven: boolean, bytes: Bytes])[] = [
    ["objectStoreMemory", sources.has("objectStoreMemory"), given.capacity],
    ["workers", values.workers !== undefined, given.workers * each],
    // One worker may grow to its limit; the others have at least what they need.
    ["memoryLimit", limited > 0, Math.max(0, limited - each)],
  ];
  const own = needs.filter(([, isGiven]) => isGiven);
  const isWhole = values.resourceLimits.memory !== undefined;
  const sum = own.reduce((all, [, , bytes]) => all + bytes, own.length === 0 ? 0 : overhead);
  return {
    memory: isWhole ? given.memory : Math.min(sum, given.memory),
    options: [...own.map(([name]) => name), ...(isWhole ? ["resourceLimits.memory"] : [])],
    most: isWhole ? given.memory : Number.MAX_SAFE_INTEGER,
  };
}

/** `state`: the directory of the logs. */
export function supervisorOptions(options: ResolvedOptions, state: string): SupervisorOptions {
  const { workerData, notices, ...settings } = options;
  const stamp = new Date().toISOString().replace(/[-:]/g, "").slice(0, 15);
  const session = `${stamp}-${process.pid}-${randomBytes(3).toString("hex")}`;
  const { localDirectory } = settings;
  checkSocketPath(sessionDirectory({ localDirectory, session }), localDirectory);
  const [token, dashboardToken] = [secretText(), secretText()];
  return { ...settings, session, token, dashboardToken, stateDirectory: join(state, session), parentPid: process.pid };
}

function secretText(): string {
  return randomBytes(16).toString("hex");
}
