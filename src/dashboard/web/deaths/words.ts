/** How a worker or a task ended, in words for people. */
import type { DeathCard } from "../../api.ts";

const REASONS: Readonly<Record<string, string>> = {
  systemOom: "ended by the system's OOM killer: the machine had no memory left",
  cgroupOom: "ended by the system's OOM killer: the container was at its limit",
  monitor: "ended by the node's memory monitor",
  terminate: "ended at the terminate threshold of its limit",
  heap: "its JavaScript heap was full",
  allocation: "a function was refused memory",
  engineMemory: "the kernel reached its memory limit",
  native: "crashed in native code",
  signal: "ended by a signal that the session did not send",
  exit: "called process.exit",
  asked: "ended by the session",
};

function reasonWords(reason: string): string {
  return REASONS[reason] ?? reason;
}

export function deathTitle({ worker, reason, pid }: DeathCard): string {
  const who = worker === null ? "A task" : `Worker ${worker}`;
  return `${who}${pid === null ? "" : ` (process ${pid})`}: ${reasonWords(reason)}`;
}

export function endWords({ exitCode, signal }: DeathCard): string {
  if (signal !== null) return `signal ${signal}`;
  return exitCode === null ? "the process lives on" : `exit code ${exitCode}`;
}
