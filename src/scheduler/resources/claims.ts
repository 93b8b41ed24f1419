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
  let { used } = state;
  if (waiting === "overlook") {
    for (const { asking, request } of state.askers) {
      used = used.subtract(new Resources({ cpu: request.cpu * asking.size }));
    }
  }
  return operator.request.fitsBeside(used, state.total) && hasDevices(state, operator);
}

export function hasDevices(state: State, operator: OperatorState): boolean {
  if (operator.gpus === 0) return true;
  if (operator.isClass && operator.idle.size > 0) return true;
  return state.devices.canTake(operator.gpus);
}

export function claim(state: State, task: TaskState, worker: WorkerState): void {
  const { operator } = task;
  // Remembered: what the operator asks for may change while the task runs.
  task.claimed = operator.request;
  state.used = state.used.add(task.claimed);
  if (operator.gpus === 0) return;
  const instance = worker.instances.get(keyOf(operator));
  task.devices = instance?.devices ?? take(state, operator, worker);
  if (!operator.isClass || instance !== undefined) return;
  worker.instances.set(keyOf(operator), { devices: task.devices, amount: operator.gpus });
}

function take(state: State, operator: OperatorState, worker: WorkerState): readonly string[] {
  // A process that has used a device can hardly be moved to another.
  const devices = state.devices.take(operator.gpus, worker.lastDevices);
  if (devices === null) throw new Error(`${operator.spec.name} was started without GPUs for it`);
  worker.lastDevices = devices;
  return devices;
}

export function giveBack(state: State, task: TaskState): void {
  const { operator, devices } = task;
  state.used = state.used.subtract(task.claimed);
  task.claimed = Resources.none;
  task.devices = [];
  if (!operator.isClass) state.devices.giveBack(devices, operator.gpus);
}

/** A class instance is gone. */
export function instanceGone(state: State, worker: WorkerState, job: JobId, operator: OperatorId): void {
  const key = `${job}/${operator}`;
  const instance = worker.instances.get(key);
  if (instance === undefined) return;
  worker.instances.delete(key);
  state.devices.giveBack(instance.devices, instance.amount);
}

export function workerLost(state: State, worker: WorkerState): void {
  for (const { devices, amount } of worker.instances.values()) state.devices.giveBack(devices, amount);
  worker.instances.clear();
}

/** An instance that has GPUs and no task, so that another operator could have them. */
export function idleInstance(
  jobs: Iterable<JobState>,
  except: OperatorState,
): { readonly operator: OperatorState; readonly worker: WorkerState } | null {
  for (const job of jobs) {
    for (const operator of job.operators) {
      if (operator === except || !operator.isClass || operator.gpus === 0) continue;
      for (const worker of operator.workers) if (worker.task?.operator !== operator) return { operator, worker };
    }
  }
  return null;
}

function keyOf({ job, spec }: OperatorState): string {
  return `${job.id}/${spec.id}`;
}
