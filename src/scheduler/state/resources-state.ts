/** What the room `resources` keeps and alone writes: cores, memory and GPUs, and who has them. */
import type { ResourceRequest } from "../../protocol/index.ts";
import { DevicePool } from "./devices.ts";
import { Resources } from "./resources.ts";

/** The session's resources: available to tasks, and in use. */
export interface ResourcesState {
  readonly total: Resources;
  used: Resources;
  readonly devices: DevicePool;
}

/** `devices`: the names of the GPUs. */
export function newResourcesState(total: ResourceRequest, devices: readonly string[]): ResourcesState {
  return { total: new Resources(total), used: Resources.none, devices: new DevicePool(devices) };
}

export interface TaskResources {
  /** What it has of the session's cores and memory. */
  claimed: Resources;
  /** GPUs that it sees. */
  devices: readonly string[];
}

export function newTaskResources(): TaskResources {
  return { claimed: Resources.none, devices: [] };
}

export interface WorkerResources {
  /** Classes' instances that have GPUs, by job and operator. */
  readonly instances: Map<string, { readonly devices: readonly string[]; readonly amount: number }>;
  lastDevices: readonly string[];
}

export function newWorkerResources(): WorkerResources {
  return { instances: new Map(), lastDevices: [] };
}
