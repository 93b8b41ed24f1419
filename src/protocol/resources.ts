/** The resources of a session and their use, as `session.resources()` reports them. */
import type { Bytes, WorkerId } from "./job.ts";

export interface ResourceAmounts {
  /** Cores. */
  readonly cpu: number;
  readonly gpu: number;
  /** Memory that tasks can ask for. */
  readonly memory: Bytes;
  /** The capacity of the store. */
  readonly objectStoreMemory: Bytes;
}

export interface WorkerUse {
  readonly id: WorkerId;
  /** Null while it is starting. */
  readonly pid: number | null;
  /** One of the session's workers, or the wide kernel, which is an additional process. */
  readonly kind: "worker" | "wide";
  readonly state: "starting" | "idle" | "busy" | "stopping";
  /** Bytes of the blocks in memory that it is answerable for, of its kernel's buffers, and of its worker data. */
  readonly managed: Bytes;
  /** The operator whose task it runs. */
  readonly task: string | null;
}

export interface SessionResources {
  readonly total: ResourceAmounts;
  readonly used: ResourceAmounts;
  readonly workers: readonly WorkerUse[];
}
