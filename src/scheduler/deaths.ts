/** What a user is told when a worker died under a task: what happened, to what, the last words, what to do. */
import type { Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import type { WorkerEnd } from "./events.ts";

export function deathMessage(
  operator: string,
  pid: number,
  end: WorkerEnd,
  attempts: number,
  heapLimit: Bytes | null,
): string {
  const tail = end.tail.trim() === "" ? "" : `\nThe last lines of its log:\n${end.tail.trimEnd()}`;
  if (end.cause === "heap") {
    const limit = heapLimit === null ? "V8's default heap limit" : `its heap limit of ${formatSize(heapLimit)}`;
    return (
      `${operator}: the worker process ${pid} reached ${limit} and was ended by V8. Trying again would end the ` +
      `same way. Use a smaller batchSize, keep less in the function, give the function more memory (its option memory), ` +
      `or all workers (memoryLimit).${tail}`
    );
  }
  const how = end.signal === null ? `exited with code ${end.exitCode}` : `was ended by ${end.signal}`;
  const times = attempts === 1 ? "" : `, after ${attempts} attempts`;
  const hint =
    end.signal === "SIGKILL"
      ? "SIGKILL often means that the system ran out of memory: use fewer workers, a smaller batchSize or smaller blocks."
      : "Look for process.exit, native code or memory in the function; maxRetries says how often it is tried again.";
  return `${operator}: the worker process ${pid} ${how} while it ran a task${times}. ${hint}${tail}`;
}
