/** A simulated worker and its task, as data. What they do is in workers.ts and running.ts. */
import type { Pressure, TaskOrder, ToWorker, WorkerId } from "../../src/protocol/index.ts";
import type { PlannedJob } from "./plans.ts";

export interface Block {
  readonly rows: number[];
  readonly partition?: number;
}

export interface SimulatedTask {
  readonly order: TaskOrder;
  readonly planned: PlannedJob;
  /** Blocks it still has to hand over. */
  todo: Block[];
  rows: readonly number[];
  /** What it was sent and has not looked at; of a fed task. */
  readonly inbox: Extract<ToWorker, { type: "feed" | "feedEnd" }>[];
  /** What it reads must be what it was as long as it runs. */
  unchanged(): void;
  cancelled: boolean;
}

export interface SimulatedWorker {
  readonly id: WorkerId;
  readonly memory: number;
  readonly isWide: boolean;
  state: "starting" | "up" | "dead";
  task: SimulatedTask | null;
  /** Private memory that it has, and that its task will have taken in the end. */
  private: number;
  appetite: number;
  /** What it had when its task began, and the most since then. */
  before: number;
  peak: number;
  /** As the scheduler last told it. */
  pressure: Pressure;
  /** The event at which it was ordered to end. */
  endedAt: number | null;
  /** It was dismissed, and has not ended yet. */
  isLeaving: boolean;
  /** When its process was started. */
  readonly begunAt: number;
  /** It is being killed, because it has not connected in time. */
  isKilledAtStart: boolean;
  readonly operators: Set<string>;
  /** GPUs of classes' instances. */
  readonly instances: Map<string, { readonly devices: readonly string[]; readonly amount: number }>;
}
