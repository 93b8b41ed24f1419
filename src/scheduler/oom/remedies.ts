/**
 * What a user can do about an operator that ran out of memory: the remedies that apply to it, with its own numbers, the
 * smallest change first. A step that the retries have already tried is left out.
 */

import { type Bytes, MAX_IN_FLIGHT, type Operator, type Step } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { isOfTheMachine } from "../needs/index.ts";
import type { Shortage } from "../state/index.ts";

interface FailedTask {
  readonly operator: Operator;
  /** The attempts that failed, oldest first. */
  readonly shortages: readonly Shortage[];
  readonly workers: number;
  readonly workerMemory: Bytes;
  /** Memory of the machine or of its control group. */
  readonly total: Bytes | null;
  /** What the session's tasks may have of it (resourceLimits.memory). */
  readonly allowed: Bytes;
  readonly isWide: boolean;
  /** The most that another task of it took that has ended; 0: none has. */
  readonly took: Bytes;
}

type FunctionStep = Extract<Step, { kind: "function" }>;

export function remedies(failed: FailedTask): readonly string[] {
  const beside = others(failed);
  // An attempt that others ended says nothing about what the task needs.
  const own = failed.shortages.filter(({ foreign }) => foreign === null);
  const last = own.at(-1);
  if (failed.operator.kind !== "tasks") return [];
  if (last === undefined) return [...beside, ...failed.shortages.slice(-1).flatMap((one) => larger(failed, one))];
  const functions = failed.operator.steps.filter((step) => step.kind === "function");
  return [
    ...beside,
    ...batches(functions, last),
    ...calls(functions, last),
    ...shapes(functions),
    ...sharing({ ...failed, shortages: own }, functions, last),
    ...kernels(failed, last),
    ...larger(failed, last),
  ];
}

function others({ shortages, total }: FailedTask): readonly string[] {
  const foreign = shortages.at(-1)?.foreign ?? null;
  if (foreign === null) return [];
  const of = total === null ? "" : ` of ${formatSize(total)}`;
  return [`Less beside it: processes that are not the session's had ${formatSize(foreign)}${of}.`];
}

function batches(functions: readonly FunctionStep[], { batchSize, cause, need }: Shortage): readonly string[] {
  if (batchSize === null || batchSize <= 1 || cause === "engineMemory") return [];
  return functions.flatMap(({ form, operator, options }) => {
    if (form !== "mapBatches" || options.batchSize <= 1) return [];
    const had =
      need.batchSize === null ? `; the ${batchSize} rows of a task did not fit` : `; ${batchSize} did not fit either`;
    const tried = batchSize < options.batchSize ? had : "";
    const next = Math.max(1, Math.floor(Math.min(batchSize, options.batchSize) / 4));
    return `batchSize: ${next} on ${operator}, which has ${options.batchSize}${tried}.`;
  });
}

/** Without `maxInFlight`, the function is taken to be synchronous: nothing else shows here that it is async. */
function calls(functions: readonly FunctionStep[], { cause, need }: Shortage): readonly string[] {
  if (cause === "engineMemory" || need.alone) return [];
  return functions.flatMap(({ operator, options: { maxInFlight } }) => {
    if (maxInFlight <= 1 || maxInFlight === MAX_IN_FLIGHT) return [];
    return `maxInFlight: ${Math.max(1, Math.floor(maxInFlight / 4))} on ${operator}, which has up to ${maxInFlight} calls under way at once.`;
  });
}

/** Remedies inside the function: what it keeps at once. */
function shapes(functions: readonly FunctionStep[]): readonly string[] {
  return functions.flatMap(({ form, operator, options }) => {
    if (form === "flatMap")
      return `Return less for each row from ${operator}, or yield the rows from a generator: they are taken one by one.`;
    if (form === "mapGroups" && options.stream !== true) {
      return `stream: true on ${operator}: a group then comes in batches of ${options.batchSize} rows instead of as a whole.`;
    }
    return [];
  });
}

/** More memory for each task: helps if the task was not already alone with all of it. */
function sharing(failed: FailedTask, functions: readonly FunctionStep[], last: Shortage): readonly string[] {
  const { operator, shortages, workers } = failed;
  if (operator.kind !== "tasks" || failed.isWide || last.need.alone) return [];
  const { room, cause } = last;
  const each = Math.max(failed.took, ...shortages.map(({ memory }) => memory ?? 0));
  const atOnce = Math.max(...shortages.map((shortage) => shortage.atOnce));
  const found: string[] = [];
  const label = functions.at(-1)?.operator ?? operator.name;
  if (isOfTheMachine(cause) && atOnce > 1 && each > 0) {
    const cpus = 2 * Math.max(1, operator.request.cpu);
    found.push(
      `numCpus: ${cpus} on ${label}: ${formatSize(each * atOnce)} over ${atOnce} running tasks is ${formatSize(each)} each; numCpus: ${cpus} halves both.`,
    );
  }
  const asked = Math.max(each * 1.25, isOfTheMachine(cause) ? 0 : last.limit * 2);
  if (functions.length > 0 && asked > operator.request.memory && asked > 0 && asked <= room) {
    found.push(
      `memory: "${rounded(asked)}" on ${label}: a task then starts only where so much is free, in a worker that has it${tookText(failed)}.`,
    );
  }
  if (isOfTheMachine(cause) && atOnce > 1 && each > 0 && room < Number.POSITIVE_INFINITY) {
    const fit = Math.max(1, Math.min(atOnce - 1, Math.floor(room / each)));
    found.push(`concurrency: ${fit} on ${label}: ${formatSize(room)} hold ${fit} of ${formatSize(each)}.`);
    if (fit < workers) found.push(`session({ workers: ${fit} }) instead of ${workers}: idle ones keep memory, too.`);
  }
  return found;
}

/** What tasks that did not run out of memory show. */
function tookText({ took }: FailedTask): string {
  return took === 0 ? "" : ` (those that ended took up to ${formatSize(took)})`;
}

function kernels({ isWide }: FailedTask, { cause }: Shortage): readonly string[] {
  if (cause !== "engineMemory" && !isWide) return [];
  return ["Let less meet at once: fewer columns, rows filtered before, shorter lists and strings."];
}

function larger({ workerMemory, total, allowed, isWide }: FailedTask, last: Shortage): readonly string[] {
  const { cause, limit, room, need, memory } = last;
  const found: string[] = [];
  if (!isWide && !isOfTheMachine(cause) && limit < Number.POSITIVE_INFINITY && !need.alone && workerMemory < room) {
    found.push(
      `session({ memoryLimit: "${rounded(2 * limit)}" }) instead of ${formatSize(workerMemory)} for each worker.`,
    );
  }
  if (!isWide && total !== null && allowed < total && allowed <= room) {
    found.push(
      `session({ resourceLimits: { memory } }) of more than ${formatSize(allowed)}: there are ${formatSize(total)}.`,
    );
    return found;
  }
  const has = total === null ? "" : ` than ${formatSize(total)}`;
  // The task already had what the store and the program left.
  const isAll = need.alone && room < Number.POSITIVE_INFINITY && (memory ?? 0) <= room;
  const all = isAll ? `: ${formatSize(room)} of it were the task's alone` : "";
  found.push(`A machine or control group with more memory${has}${all}.`);
  return found;
}

/** Rounded up to the next half of a GiB, or the next 64 MiB, as a person would write it. */
function rounded(bytes: Bytes): string {
  const step = bytes >= 2 ** 30 ? 2 ** 29 : 64 * 2 ** 20;
  const whole = Math.ceil(bytes / step) * step;
  return whole >= 2 ** 30 ? `${whole / 2 ** 30} GiB` : `${whole / 2 ** 20} MiB`;
}
