/** Collects the garbage of this process, so far as V8 can. */
import { Session } from "node:inspector";

/**
 * What V8 does when memory is low: it moves what lives together and unmaps the rest. `gc()` does not shrink the heap as
 * far (of 400 MB of small objects it left 75 MB, this 37 MB).
 */
export async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await new Promise<void>((resolve, reject) => {
      session.post("HeapProfiler.collectGarbage", (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    session.disconnect();
  }
}
