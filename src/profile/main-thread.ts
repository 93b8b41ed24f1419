/**
 * Calls from the profiling thread into the main thread. The inspector interrupts the main thread even deep inside a
 * function. Each connection is short, because a process cannot end while one is open.
 */
import { Session } from "node:inspector";
import { SpillwayError } from "../errors/index.ts";
import { PROFILER } from "./snapshot.ts";

interface Evaluated {
  readonly result?: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
}

/** Calls a member of the object that the recorder made reachable. */
export function callMain(member: string, ...args: readonly (string | number)[]): Promise<unknown> {
  const session = new Session();
  session.connectToMainThread();
  const call = `${member}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`;
  const params = {
    expression: `globalThis[Symbol.for(${JSON.stringify(PROFILER)})]?.${call}`,
    returnByValue: true,
  };
  return new Promise<unknown>((resolve, reject) => {
    session.post("Runtime.evaluate", params, (error: Error | null, answer?: object) => {
      session.disconnect();
      const { result, exceptionDetails } = (answer ?? {}) as Evaluated;
      const thrown = exceptionDetails?.exception?.description;
      if (error !== null) reject(new SpillwayError(`The inspector refused ${call}: ${JSON.stringify(error)}`));
      else if (thrown !== undefined) reject(new SpillwayError(`${call} failed in the worker: ${thrown}`));
      else resolve(result?.value);
    });
  });
}
