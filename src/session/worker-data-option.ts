/**
 * The option `data`: checked and captured when the session is made, so that a value that cannot travel is an error
 * there.
 */
import { captureFunction } from "../closure/index.ts";
import { CaptureError, OptionError } from "../errors/index.ts";
import { isMapLike, missingMethods, type WorkerDataFactory, type WorkerDataOption } from "../worker-data/index.ts";
import { payloadText } from "./payload.ts";

/** The payload as base64; each worker makes its own worker data from it. */
export function workerDataPayload(data: WorkerDataOption): string {
  const { factory, args } = madeBy(data);
  try {
    const { payload } = captureFunction(factory, { operator: "data", constructorArgs: args });
    return payloadText("data", payload);
  } catch (error) {
    throw factory === itself && error instanceof CaptureError ? noCopy(error) : error;
  }
}

/** The captured function is ours, so its name would not help the user: the message names only the value. */
function noCopy({ message, variable, location }: CaptureError): CaptureError {
  const why = /, which (is .*?) and cannot travel/s.exec(message)?.[1] ?? "cannot be copied";
  return new CaptureError(
    `session: data ${why}, but each worker needs its own copy. Give a class or a function that makes it in the worker: () => new ….`,
    variable,
    location,
  );
}

interface Making {
  readonly factory: WorkerDataFactory;
  readonly args: readonly unknown[];
}

function madeBy(data: unknown): Making {
  // A built-in class cannot be told from a function in the worker, and needs `new`.
  if (data === Map) return madeBy(new Map());
  if (isFactory(data)) return { factory: data, args: [] };
  if (isMapLike(data)) return { factory: itself, args: [data] };
  if (Array.isArray(data)) {
    const [factory, ...args] = data;
    return { factory: factoryOf(factory), args };
  }
  if (typeof data === "object" && data !== null && "factory" in data) {
    const args = "args" in data && data.args !== undefined ? data.args : [];
    if (!Array.isArray(args)) throw new OptionError("session: data.args must be an array: the factory's arguments.");
    return { factory: factoryOf(data.factory), args };
  }
  throw refusal(data);
}

function itself(data: unknown): unknown {
  return data;
}

function factoryOf(value: unknown): WorkerDataFactory {
  if (isFactory(value)) return value;
  throw new OptionError("session: data: the factory must be a function or a class that makes worker data.");
}

function isFactory(value: unknown): value is WorkerDataFactory {
  return typeof value === "function";
}

function refusal(data: unknown): OptionError {
  const missing =
    typeof data === "object" && data !== null
      ? ` This object has no ${missingMethods(data)
          .map((name) => `${name}()`)
          .join(", ")}.`
      : "";
  return new OptionError(
    `session: data must be a Map or an object with its methods (get, set, has, delete, keys), a function or a class that makes one, or [factory, ...args].${missing}`,
  );
}
