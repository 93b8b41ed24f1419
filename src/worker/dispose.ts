/**
 * The end of a class function's instance: calls its `dispose()`, if it has one. The job waits for it, so it gets a
 * limited time. A dispose that loops without ever waiting cannot be ended from here.
 */
import type { FunctionError } from "../errors/index.ts";
import type { Milliseconds, Notice } from "../protocol/index.ts";

export interface Disposable {
  /** The operator it belongs to, as the user knows it: "mapBatches(Model)". */
  readonly operator: string;
  readonly dispose: () => unknown;
  readonly failure: (thrown: unknown) => FunctionError;
}

/**
 * Closing a pool of connections takes a second. A dispose that takes longer than this waits for something that never
 * comes.
 */
export const DISPOSE_PATIENCE: Milliseconds = 10_000;

/** Disposes of all instances, even after one has thrown, and then throws the first error. */
export async function disposeAll(
  instances: Iterable<Disposable>,
  notice: (what: string, notice: Notice) => void,
): Promise<void> {
  let first: FunctionError | null = null;
  for (const instance of instances) {
    try {
      if (await isLate(instance)) notice("dispose", lateDispose(instance));
    } catch (thrown) {
      first ??= instance.failure(thrown);
    }
  }
  if (first !== null) throw first;
}

async function isLate({ dispose }: Disposable): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), DISPOSE_PATIENCE);
  });
  try {
    return await Promise.race([Promise.resolve(dispose()).then(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}

function lateDispose({ operator }: Disposable): Notice {
  return { kind: "lateDispose", operator, seconds: DISPOSE_PATIENCE / 1000 };
}
