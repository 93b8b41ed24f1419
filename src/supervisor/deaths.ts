/**
 * Finds out why a worker ended from the facts: what the session did to it, how the system says it ended, the end of its
 * log, and the counters of the OOM killer. Pure; the pool gathers the facts.
 */
import { endedForMemory } from "../errors/index.ts";
import type { OomKills } from "../memory/index.ts";
import type { DeathReason, KillReason } from "../protocol/index.ts";

export interface DeathFacts {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why the session ended it; "asked": it was dismissed. Null: the session did nothing to it. */
  readonly order: KillReason | "asked" | null;
  /** The end of its log. */
  readonly words: string;
  /** By how much the OOM killer's counters have risen around its death. */
  readonly oomKills: OomKills;
}

/** Signals by which a process ends itself in native code: an abort, or an invalid access or instruction. */
const NATIVE = new Set(["SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE", "SIGTRAP", "SIGSYS"]);

export function causeOfDeath({ exitCode, signal, order, words, oomKills }: DeathFacts): DeathReason {
  // The system may kill the worker before the session's order arrives. The counters are a fact, the order only an
  // intention.
  if (order === "monitor" || order === "terminate") return (signal === "SIGKILL" ? oomKillOf(oomKills) : null) ?? order;
  if (order !== null) return "asked";
  if (signal === null) return exitCode === null ? "signal" : "exit";
  // The words count only together with the signal: a function may print them and go on.
  if (NATIVE.has(signal)) return endedForMemory(words) ? "heap" : "native";
  return (signal === "SIGKILL" ? oomKillOf(oomKills) : null) ?? "signal";
}

/** Which limit was reached, if the system has killed one of our processes. */
export function oomKillOf({ container, ours }: OomKills): "systemOom" | "cgroupOom" | null {
  if (ours === 0) return null;
  return container > 0 ? "cgroupOom" : "systemOom";
}
