/** Requests to all workers at once: the results of a function, and the memory that was returned. */
import { deserialize } from "node:v8";
import { captureFunction } from "../closure/index.ts";
import { fromWire, OptionError } from "../errors/index.ts";
import type { Bytes, TrimReport, WorkerAnswer, WorkerId } from "../protocol/index.ts";
import { payloadText } from "./payload.ts";

/** Result of `session.run` for one worker. */
export interface WorkerValue<Value> {
  readonly worker: WorkerId;
  readonly value: Value;
}

/** Result of `session.trim`. */
export interface Trimmed {
  /** Sum over all workers. */
  readonly returned: Bytes;
  readonly workers: readonly (TrimReport & { readonly returned: Bytes })[];
}

/** A function with its arguments as base64, captured at the call. */
export function callPayload(fn: unknown, args: readonly unknown[]): string {
  if (typeof fn !== "function") throw new OptionError(`run: give a function, not ${typeof fn}.`);
  const { payload, isClass } = captureFunction(fn, { operator: "run", constructorArgs: args });
  if (isClass) throw new OptionError("run: a class cannot be called. Give a function that makes an instance.");
  return payloadText("run", payload);
}

/** The values of all workers; throws the error of the first worker that failed. */
export function workerValues<Value>(answers: readonly WorkerAnswer[]): WorkerValue<Value>[] {
  const failed = answers.filter(({ error }) => error !== null);
  const [first] = failed;
  if (first?.error != null) {
    const more = failed.length - 1;
    const { message } = first.error;
    const others = more === 0 ? "" : `\n(${more} more of ${answers.length} workers failed as well.)`;
    throw fromWire({ ...first.error, message: message + others });
  }
  return answers.flatMap(({ worker, value }) =>
    value === null ? [] : [{ worker, value: deserialize(Buffer.from(value, "base64")) }],
  );
}

export function trimmed(reports: readonly TrimReport[]): Trimmed {
  const workers = reports.map((report) => ({ ...report, returned: Math.max(0, report.before - report.after) }));
  return { returned: workers.reduce((sum, { returned }) => sum + returned, 0), workers };
}
