/** What a session has and what of it is in use, as `session.resources()` tells it. */
import type { Bytes, WorkerId } from "./job.ts";

export interface ResourceAmounts {
  /** Cores. */
  readonly cpu: number;
  readonly gpu: number;
  /** Memory that tasks can ask for. */
  readonly memory: Bytes;
  /** The store's. */
  readonly objectStoreMemory: Bytes;
}

export interface WorkerUse {
  readonly id: WorkerId;
  /** Null while it is starting. */
  readonly pid: number | null;
  /** One of the session's workers, or the wide kernel beside them. */
  readonly kind: "worker" | "wide";
  readonly state: "starting" | "idle" | "busy" | "stopping";
  /** Bytes of the blocks in memory that it made, and of its kernel's buffers. */
  readonly managed: Bytes;
  /** The operator whose task it runs. */
  readonly task: string | null;
}

export interface SessionResources {
  readonly total: ResourceAmounts;
  readonly used: ResourceAmounts;
  readonly workers: readonly WorkerUse[];
}
