/** Tasks of a worker without its process: real kernel, invented store. */
import { type Columns, columnsToBatch, type RecordBatch, RowBuilder, toRows } from "../../src/arrow/index.ts";
import { OwnPeak } from "../../src/memory/index.ts";
import type {
  JobId,
  Sink,
  Step,
  TaskId,
  TaskInput,
  TaskOrder,
  TaskReport,
  WorkerOperator,
} from "../../src/protocol/index.ts";
import type { LeasedKernel } from "../../src/worker/leased-kernel.ts";
import { LoadedOperator } from "../../src/worker/loaded-operator.ts";
import { RunningTask } from "../../src/worker/task.ts";
import { InventedOutlet } from "./invented-outlet.ts";

export const job = "j" as JobId;
export const BLOCKS: Sink = { kind: "blocks", targetBytes: 1 << 20, minBytes: 1 << 10 };

export function sqlStep(sql: string): Step {
  return { kind: "sql", operator: "sql", sql };
}

export function operatorOf(steps: readonly Step[], more: Partial<WorkerOperator> = {}): WorkerOperator {
  return {
    id: 0,
    name: "test",
    steps,
    sink: BLOCKS,
    maxRowsPerTask: null,
    setsOrder: true,
    broadcast: [],
    ...more,
  };
}

export function taskOf(input: TaskInput, more: Partial<TaskOrder> = {}): TaskOrder {
  return {
    id: "j/0/0" as TaskId,
    job,
    operator: 0,
    index: 0,
    attempt: 0,
    input,
    payloads: [],
    broadcast: [],
    devices: null,
    handedOver: [],
    ...more,
  };
}

export function columns(values: Columns): RecordBatch {
  return columnsToBatch(values, undefined, new Map());
}

export function rows(...values: readonly object[]): RecordBatch {
  const builder = new RowBuilder(undefined);
  for (const row of values) builder.append(row);
  return builder.finish();
}

export class TestTask {
  readonly outlet = new InventedOutlet();
  readonly operator: LoadedOperator;
  readonly running: RunningTask;

  constructor(kernel: LeasedKernel, spec: WorkerOperator, task: TaskOrder) {
    this.operator = new LoadedOperator(task.job, spec, this.outlet.arena);
    this.running = new RunningTask(task, this.operator, kernel, this.outlet, new OwnPeak());
  }

  /** Feeds a block, and lets its memory be used for other things once it has been read. */
  feed(table: number, ...batches: readonly RecordBatch[]): void {
    const slices = batches.map((batch) => this.outlet.place(batch));
    const before = this.outlet.onFed;
    const place = this.#fed++;
    this.outlet.onFed = () => {
      before();
      if (this.outlet.fedMessages === place + 1) for (const slice of slices) this.outlet.overwrite(slice);
    };
    this.running.feed({ table, slices });
  }
  #fed = 0;

  async finish(): Promise<TaskReport> {
    const report = this.running.run();
    this.running.feedEnd();
    return report;
  }

  get rows(): Record<string, unknown>[] {
    return this.outlet.batches.flatMap((batch) => toRows(batch, {}));
  }
}
