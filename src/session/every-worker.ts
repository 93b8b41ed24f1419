/** What a program asks all workers at once: a function's answers, and how much memory they gave back. */
import { deserialize } from "node:v8";
import { captureFunction } from "../closure/index.ts";
import { fromWire, OptionError } from "../errors/index.ts";
import type { Bytes, TrimReport, WorkerAnswer, WorkerId } from "../protocol/index.ts";
import { payloadText } from "./payload.ts";

/** What `session.run` returns of one worker. */
export interface WorkerValue<Value> {
  readonly worker: WorkerId;
  readonly value: Value;
}

/** What `session.trim` returns. */
export interface Trimmed {
  /** Of all workers together. */
  readonly returned: Bytes;
  readonly workers: readonly (TrimReport & { readonly returned: Bytes })[];
}

/** A function with its arguments as base64, captured where it is given. */
export function callPayload(fn: unknown, args: readonly unknown[]): string {
  if (typeof fn !== "function") throw new OptionError(`run: give a function, not ${typeof fn}.`);
  const { payload, isClass } = captureFunction(fn, { operator: "run", constructorArgs: args });
  if (isClass) throw new OptionError("run: a class cannot be called. Give a function that makes an instance.");
  return payloadText("run", payload);
}

/** Throws what the first worker of them threw. */
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
