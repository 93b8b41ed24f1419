/** What must hold at each moment at which a simulated worker is given something. */
import type { HandedOver, TaskOrder, ToWorker } from "../../src/protocol/index.ts";
import type { SimulatedArena } from "./arena.ts";
import { ALL_MEMORY } from "./means.ts";
import { rowsOfSplit } from "./plans.ts";
import type { SimulatedProgram } from "./program.ts";
import type { SimulatedWorker } from "./worker.ts";

export class Rules {
  constructor(
    private readonly program: SimulatedProgram,
    private readonly workers: ReadonlyMap<number, SimulatedWorker>,
    private readonly arena: SimulatedArena,
  ) {}

  /** No class has more instances than it may. */
  checkInstances({ job, operator }: Extract<ToWorker, { type: "operator" }>): void {
    if (!operator.steps.some((step) => step.kind === "function" && step.isClass)) return;
    const key = `${job}/${operator.id}`;
    const instances = [...this.workers.values()].filter((worker) => worker.operators.has(key)).length;
    if (instances > this.#concurrencyOf({ job, operator: operator.id }))
      throw new Error(`${instances} instances of ${key}`);
  }

  /** The worker has just been given the task. */
  checkStart(worker: SimulatedWorker, order: TaskOrder): void {
    const running = [...this.workers.values()].filter(
      ({ task }) =>
        task?.order.job === order.job && task.order.operator === order.operator && task.order.repair === undefined,
    );
    if (order.repair === undefined && running.length > this.#concurrencyOf(order)) {
      throw new Error("over its concurrency");
    }
    this.#checkMemory(worker);
    this.#checkDevices(worker, order);
  }

  /** Every task has all of it, each time. */
  checkBroadcast({ job, operator, broadcast }: TaskOrder): void {
    const spec = this.program.operatorOf(job, operator);
    for (const [i, table] of (spec?.broadcast ?? []).entries()) {
      const splits = table.operators.flatMap((id) => {
        const input = this.program.operatorOf(job, id)?.input;
        return input?.kind === "splits" ? input.splits : [];
      });
      const expected = splits.flatMap((split) => (split.kind === "sql" ? rowsOfSplit(split) : []));
      const rows = (broadcast[i] ?? []).flatMap(({ range, start, end }) => this.arena.at(range).slice(start, end));
      if (rows.length !== expected.length || rows.some((row) => !expected.includes(row))) {
        throw new Error(`a broadcast table has the rows ${rows}, not ${expected}`);
      }
    }
  }

  #concurrencyOf({ job, operator }: { readonly job: TaskOrder["job"]; readonly operator: number }): number {
    return this.program.operatorOf(job, operator)?.concurrency.max ?? 0;
  }

  #checkMemory(worker: SimulatedWorker): void {
    const needs = ({ task }: SimulatedWorker) =>
      task === null ? 0 : (this.program.operatorOf(task.order.job, task.order.operator)?.request.memory ?? 0);
    if (needs(worker) > worker.memory) throw new Error("a task that needs more memory than its worker has");
    const all = [...this.workers.values()].reduce((sum, one) => sum + needs(one), 0);
    if (all > ALL_MEMORY) throw new Error(`tasks have ${all} of ${ALL_MEMORY} memory`);
  }

  #checkDevices(worker: SimulatedWorker, order: TaskOrder): void {
    const operator = this.program.operatorOf(order.job, order.operator);
    const amount = operator?.request.gpu ?? 0;
    const { devices } = order;
    if (devices === null || new Set(devices).size !== Math.ceil(amount))
      throw new Error(`${devices} for ${amount} GPUs`);
    if (amount === 0) return;
    const key = `${order.job}/${order.operator}`;
    const isClass = operator?.steps.some((step) => step.kind === "function" && step.isClass) === true;
    const instance = worker.instances.get(key);
    if (isClass && amount > 0) {
      if (instance !== undefined && instance.devices.join() !== devices.join()) throw new Error("another device");
      worker.instances.set(key, { devices, amount });
    }
    for (const [name, load] of this.#loads()) if (load > 1) throw new Error(`GPU ${name} is given away ${load} times`);
  }

  /** How much of each GPU is in use. */
  #loads(): ReadonlyMap<string, number> {
    const loads = new Map<string, number>();
    for (const { task, instances } of this.workers.values()) {
      const held = [...instances.values()];
      if (task !== null && !instances.has(`${task.order.job}/${task.order.operator}`)) {
        const gpu = this.program.operatorOf(task.order.job, task.order.operator)?.request.gpu ?? 0;
        held.push({ devices: task.order.devices ?? [], amount: gpu });
      }
      for (const one of held) {
        for (const name of one.devices) loads.set(name, (loads.get(name) ?? 0) + Math.min(1, one.amount));
      }
    }
    return loads;
  }
}

/** A task is told what it has handed over before, exactly. */
export function isSame(before: readonly HandedOver[], now: readonly HandedOver[]): boolean {
  if (before.length !== now.length) return false;
  return before.every((one, i) => {
    const other = now[i];
    return one.rows === other?.rows && one.length === other.length && one.checksum === other.checksum;
  });
}
