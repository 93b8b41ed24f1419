/**
 * What running tasks have of the session's cores, memory and GPUs: taken when a task starts, given back when it leaves
 * its worker, however it ends. A task starts only where all that it asks for is free. The GPUs of a class are its
 * instance's: taken with its first task, given back when it is disposed or its worker is gone.
 */
import type { JobId, OperatorId } from "../../protocol/index.ts";
import type { JobState, OperatorState, State, TaskState, WorkerState } from "../state/index.ts";
import { Resources } from "../state/index.ts";

/**
 * `waiting`: everything stands still, so the cores of tasks that wait for room in the store are in fact free. A task
 * that would let them go on may have them.
 */
export function isFree(state: State, operator: OperatorState, waiting: "count" | "overlook"): boolean {
  let { used } = state.resources;
  if (waiting === "overlook") {
    for (const { phases, needs } of state.phases.askers) {
      used = used.subtract(new Resources({ cpu: needs.request.cpu * phases.asking.size }));
    }
  }
  return operator.needs.request.fitsBeside(used, state.resources.total) && hasDevices(state, operator);
}

export function hasDevices(state: State, operator: OperatorState): boolean {
  if (operator.needs.gpus === 0) return true;
  if (operator.isClass && operator.phases.idle.size > 0) return true;
  return state.resources.devices.canTake(operator.needs.gpus);
}

export function claim(state: State, task: TaskState, worker: WorkerState): void {
  const { operator } = task;
  // Remembered: what the operator asks for may change while the task runs.
  task.resources.claimed = operator.needs.request;
  state.resources.used = state.resources.used.add(task.resources.claimed);
  if (operator.needs.gpus === 0) return;
  const instance = worker.resources.instances.get(keyOf(operator));
  task.resources.devices = instance?.devices ?? take(state, operator, worker);
  if (!operator.isClass || instance !== undefined) return;
  worker.resources.instances.set(keyOf(operator), { devices: task.resources.devices, amount: operator.needs.gpus });
}

function take(state: State, operator: OperatorState, worker: WorkerState): readonly string[] {
  // A process that has used a device can hardly be moved to another.
  const devices = state.resources.devices.take(operator.needs.gpus, worker.resources.lastDevices);
  if (devices === null) throw new Error(`${operator.spec.name} was started without GPUs for it`);
  worker.resources.lastDevices = devices;
  return devices;
}

export function giveBack(state: State, task: TaskState): void {
  const { operator } = task;
  const { devices } = task.resources;
  state.resources.used = state.resources.used.subtract(task.resources.claimed);
  task.resources.claimed = Resources.none;
  task.resources.devices = [];
  if (!operator.isClass) state.resources.devices.giveBack(devices, operator.needs.gpus);
}

/** A class instance is gone. */
export function instanceGone(state: State, worker: WorkerState, job: JobId, operator: OperatorId): void {
  const key = `${job}/${operator}`;
  const instance = worker.resources.instances.get(key);
  if (instance === undefined) return;
  worker.resources.instances.delete(key);
  state.resources.devices.giveBack(instance.devices, instance.amount);
}

export function workerLost(state: State, worker: WorkerState): void {
  for (const { devices, amount } of worker.resources.instances.values())
    state.resources.devices.giveBack(devices, amount);
  worker.resources.instances.clear();
}

/** An instance that has GPUs and no task, so that another operator could have them. */
export function idleInstance(
  jobs: Iterable<JobState>,
  except: OperatorState,
): { readonly operator: OperatorState; readonly worker: WorkerState } | null {
  for (const job of jobs) {
    for (const operator of job.operators) {
      if (operator === except || !operator.isClass || operator.needs.gpus === 0) continue;
      for (const worker of operator.phases.workers) if (worker.task?.operator !== operator) return { operator, worker };
    }
  }
  return null;
}

function keyOf({ job, spec }: OperatorState): string {
  return `${job.id}/${spec.id}`;
}
