/**
 * What a user is told when a task's worker died: what happened, to what, the figures, the likely causes, what to do,
 * and the end of the log. Each cause of death has its own text. Retries are decided elsewhere.
 *
 * Unlike notices (src/notices/), the words of this room are made by the scheduler: they are messages of the errors with
 * which it fails jobs, and tell attempts, limits and readings that are sent nowhere else.
 */

import { ENDS, type ExitType, WorkerDiedError, wasRefusedBelowHeap } from "../../errors/index.ts";
import type { Bytes, NodeSnapshot, SessionEvent } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import type { WorkerEnd, WorkerState } from "../state/index.ts";

/** More points would add nothing. */
const CURVE_POINTS = 5;
/** Node's last line after an uncaught error. */
const UNCAUGHT = /^Node\.js v\d+/m;

export function exitTypeOf(end: WorkerEnd): ExitType {
  if (end.connection !== undefined || (end.exitCode === null && end.signal === null)) return "SYSTEM_ERROR";
  return isUncaught(end) ? "USER_ERROR" : ENDS[end.cause].exitType;
}

export function deathError(
  operator: string,
  pid: number,
  end: WorkerEnd,
  attempts: number,
  heapLimit: Bytes | null,
): WorkerDiedError {
  const message = deathMessage(operator, pid, end, attempts, heapLimit);
  return new WorkerDiedError(message, operator, end.exitCode, end.signal, end.cause, exitTypeOf(end));
}

function deathMessage(
  operator: string,
  pid: number,
  end: WorkerEnd,
  attempts: number,
  heapLimit: Bytes | null,
): string {
  const { how, causes, remedies } = story(end, heapLimit);
  const times = attempts === 1 ? "" : `, after ${attempts} attempts`;
  return [
    `${operator}: the worker process ${pid} ${how} while it ran a task${times}.`,
    deathDetails(end),
    ...(end.node === null ? [] : [nodeText(end.node)]),
    `Likely causes: ${causes}.`,
    `What to do: ${remedies}.`,
    ...lastLines(end),
  ].join("\n");
}

/** The figures, one per line. */
export function deathDetails(end: WorkerEnd): string {
  const { exitCode, signal, oomKills } = end;
  return [
    `Exit type: ${exitTypeOf(end)}; exit code: ${exitCode ?? "none"}; signal: ${signal ?? "none"}; kills of the system's OOM killer ` +
      `while it lived: ${oomKills.container} in its control group, ${oomKills.machine} on the machine.`,
    `Its memory: ${curveText(end.curve)}.`,
  ].join("\n");
}

/** For example "312 MiB → 401 MiB → 690 MiB in the last 4.0 s". */
export function curveText(curve: WorkerEnd["curve"]): string {
  const first = curve[0];
  const last = curve.at(-1);
  if (first === undefined || last === undefined) return "not measured yet";
  if (curve.length === 1) return `${formatSize(last.private)} at its last measurement`;
  const points = Math.min(CURVE_POINTS, curve.length);
  const sizes = Array.from({ length: points }, (_, i) => {
    const point = curve[Math.round((i * (curve.length - 1)) / (points - 1))] ?? last;
    return formatSize(point.private);
  });
  return `${sizes.join(" → ")} in the last ${((last.at - first.at) / 1000).toFixed(1)} s`;
}

/** The most memory that was measured for the worker; null when it was never measured. */
export function peakOf({ curve }: Pick<WorkerEnd, "curve">): Bytes | null {
  return curve.length === 0 ? null : Math.max(...curve.map((point) => point.private));
}

export function diedEvent(worker: WorkerState, end: WorkerEnd): SessionEvent {
  const { exitCode, signal, cause } = end;
  const operator = worker.task?.operator.spec.name ?? null;
  return { type: "workerDied", worker: worker.id, pid: worker.pid, reason: cause, exitCode, signal, operator };
}

function nodeText({ host, used, total, threshold }: NodeSnapshot): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const monitor = threshold === null ? "" : `, and the monitor acts above ${percent(threshold)}`;
  return `Node ${host}: ${formatSize(used)} of ${formatSize(total)} in use (${percent(used / total)})${monitor}.`;
}

function lastLines({ tail, log }: WorkerEnd): string[] {
  const name = log === "" ? "log" : `log (${log})`;
  return tail.trim() === "" ? [`Its ${name} is empty.`] : [`Its ${name} ends with:`, tail.trimEnd()];
}

function isUncaught({ cause, exitCode, tail }: WorkerEnd): boolean {
  return cause === "exit" && exitCode !== 0 && UNCAUGHT.test(tail);
}

interface Story {
  /** Continues "the worker process 4711". */
  readonly how: string;
  readonly causes: string;
  readonly remedies: string;
}

const LESS = "use a smaller batchSize, keep less in the function";

function story(end: WorkerEnd, heapLimit: Bytes | null): Story {
  const { cause, signal, exitCode } = end;
  if (end.connection !== undefined) return unreachable(end.connection);
  switch (cause) {
    case "systemOom":
      return {
        how: "was killed by the system's OOM killer, because the machine had no memory left,",
        causes: "the function, the workers together or other programs needed more memory than the machine has",
        remedies: `${LESS}, use fewer workers, reserve what the function needs (its option memory), or end what else runs there`,
      };
    case "cgroupOom":
      return {
        how: "was killed by the system's OOM killer, because its control group (container) had reached its memory limit,",
        causes: "the function, or the workers together, needed more memory than the control group may have",
        remedies: `${LESS}, use fewer workers, reserve what the function needs (its option memory), or raise the memory limit of the control group`,
      };
    case "monitor":
      return {
        how:
          end.oomKills.machine + end.oomKills.container === 0
            ? "was ended by the node's memory monitor, before the system's OOM killer would have struck,"
            : "was ended by the node's memory monitor, while the system's OOM killer had struck elsewhere,",
        causes: "the tasks on the node, or other programs there, needed nearly all of its memory",
        remedies:
          `${LESS}, run fewer tasks of it at once (numCpus), reserve what the function needs (its option memory), or change when ` +
          "the monitor acts (memoryUsageThreshold, memoryMonitorRefreshMs)",
      };
    case "terminate":
      return {
        how: "was ended because it had passed the terminate threshold of its memory limit",
        causes: "the function needs more memory than a worker may have, or gives none back",
        remedies: `${LESS}, give the function more memory (its option memory) or all workers (memoryLimit), or change worker.memory.terminate`,
      };
    case "heap":
      return outOfHeap(end, heapLimit);
    case "native":
      return {
        how: `crashed in native code (${signal})`,
        causes: "a fault in the kernel or in a native module that the function uses, or a call of abort",
        remedies:
          "run the function alone on the same rows, update the native module or do without it; maxRetries says how often it is tried " +
          "again",
      };
    case "exit":
      return isUncaught(end) ? uncaught(exitCode) : exited(exitCode);
    case "signal":
      return signalled(signal);
    case "asked":
      return {
        how: "was ended by the session, because it did not answer",
        causes: "the function does not come back: a loop without an end, or a call that blocks",
        remedies: "look for what the function waits for",
      };
  }
}

function outOfHeap({ tail }: WorkerEnd, heapLimit: Bytes | null): Story {
  if (wasRefusedBelowHeap(tail)) {
    return {
      how: "was refused memory, and ended itself,",
      causes: "the function, or native code that it uses, asked for more at once than a worker may have",
      remedies: `${LESS}, or give the function more memory (its option memory), or all workers (memoryLimit)`,
    };
  }
  const limit = heapLimit === null ? "V8's default heap limit" : `its heap limit of ${formatSize(heapLimit)}`;
  return {
    how: `reached ${limit} and was ended by V8`,
    causes: "the function keeps more JavaScript objects at once than the heap holds, or leaks them",
    remedies: `${LESS}, give the function more memory (its option memory), or all workers (memoryLimit)`,
  };
}

function exited(exitCode: number | null): Story {
  return {
    how: `exited with code ${exitCode}`,
    causes: "process.exit in the function, or in a library that it calls",
    remedies:
      "throw an error instead, which names the row and can be skipped (onError); maxRetries says how often it is tried again",
  };
}

function uncaught(exitCode: number | null): Story {
  return {
    how: `exited with code ${exitCode}, because of an uncaught error,`,
    causes: "an error in a timer, an event, or a promise without await that the function started",
    remedies: "catch it there, or await the promise; the log has its stack",
  };
}

function signalled(signal: string | null): Story {
  const oom =
    signal === "SIGKILL"
      ? "; or the system's OOM killer, where its count cannot be seen from here (use fewer workers)"
      : "";
  return {
    how:
      signal === null
        ? "could not be started, or ended without a trace,"
        : `was ended by ${signal}, which the session had not sent,`,
    causes: `an administrator, a service manager, a stopping container or the function itself ended it${oom}`,
    remedies: "find out who sends the signal; maxRetries says how often it is tried again",
  };
}

function unreachable(connection: "never" | "broken"): Story {
  return connection === "never"
    ? {
        how: "had not connected within a minute, and was ended,",
        causes: "a machine that is overloaded, or something that blocks its start (workerEnv, workerExecArgv)",
        remedies: "look at its log, use fewer workers",
      }
    : {
        how: "had lost its connection, and was ended,",
        causes: "the function closed file descriptors that are not its own",
        remedies: "close only what the function has opened",
      };
}
