/**
 * A limit on the time a call may take, for code that may never come back. The scheduler runs in one piece, so nothing
 * in the same thread could interrupt it but V8 itself, which `vm` asks to.
 */
import { Script } from "node:vm";

declare global {
  var watchedCall: (() => void) | undefined;
}

const CALL = new Script("watchedCall()");

export class TooLong extends Error {
  constructor(
    message: string,
    /** CPU time that this process had meanwhile: little on a machine that is busy with other things. */
    readonly cpu: number,
  ) {
    super(message);
  }
}

export function withinTime<T>(milliseconds: number, call: () => T): T {
  let result: { readonly value: T } | undefined;
  globalThis.watchedCall = () => {
    result = { value: call() };
  };
  const before = process.cpuUsage();
  try {
    CALL.runInThisContext({ timeout: milliseconds });
  } catch (error) {
    const isTimeout = error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    if (!isTimeout) throw error;
    const { user, system } = process.cpuUsage(before);
    throw new TooLong(`no end after ${milliseconds} ms`, (user + system) / 1000);
  } finally {
    globalThis.watchedCall = undefined;
  }
  if (result === undefined) throw new Error("the call did not run");
  return result.value;
}
