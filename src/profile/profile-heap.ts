/** `profileHeap`, which code inside a function calls. The worker does the work. */
import { OptionError } from "../errors/index.ts";
import { isPromise } from "../realm/index.ts";

/** One per worker process; the program has none. */
export interface WorkerProfiler {
  profile(label: string): { close(): void };
  /**
   * Begins an on-demand profile. Returns null, or why it cannot begin. `woken`: the inspector was opened for this
   * profile.
   */
  demand(request: number, seconds: number, woken: boolean): string | null;
}

/** A running profile. */
export interface HeapProfile {
  /** Ends the profile. Further calls do nothing. */
  readonly stop: () => void;
  [Symbol.dispose](): void;
}

/** A global symbol, so that functions find the profiler through any copy of this package. */
const PLACE = Symbol.for("spillway.worker.profiler");
const LONGEST = 100;

export function setWorkerProfiler(profiler: WorkerProfiler): void {
  Reflect.set(globalThis, PLACE, profiler);
}

/** The expression by which the inspector calls `demand` in a worker that is busy inside a function. */
export function demandExpression(request: number, seconds: number, opened: boolean): string {
  return `globalThis[Symbol.for("spillway.worker.profiler")].demand(${request}, ${seconds}, ${opened})`;
}

/** Profiles the heap and the buffers of the worker while `code` runs, and returns what it returns. */
export function profileHeap<Result>(name: string, code: () => Result): Result;
/** Profiles the heap and the buffers of the worker until it is stopped. */
export function profileHeap(name: string): HeapProfile;
export function profileHeap<Result>(name: string, code?: () => Result): Result | HeapProfile {
  if (typeof name !== "string" || name === "" || name.length > LONGEST) {
    throw new OptionError(`profileHeap: give the profile a name of 1 to ${LONGEST} characters.`);
  }
  if (code !== undefined && typeof code !== "function") {
    throw new OptionError(`profileHeap: the second argument is ${typeof code}; give a function, or leave it out.`);
  }
  const profile = start(name);
  if (code === undefined) return profile;
  let isLater = false;
  try {
    const result = code();
    isLater = isPromise(result);
    // Stops the profile before any code that awaits the result continues.
    if (isLater) void Promise.resolve(result).then(profile.stop, profile.stop);
    return result;
  } finally {
    if (!isLater) profile.stop();
  }
}

/** The program has no profiler: a function that is tried out there simply runs. */
function start(name: string): HeapProfile {
  const profiler: unknown = Reflect.get(globalThis, PLACE);
  const recording = isProfiler(profiler) ? profiler.profile(name) : null;
  const stop = () => recording?.close();
  return { stop, [Symbol.dispose]: stop };
}

function isProfiler(value: unknown): value is WorkerProfiler {
  return typeof value === "object" && value !== null && "profile" in value && typeof value.profile === "function";
}
