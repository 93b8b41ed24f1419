/**
 * Why a worker ended, from what can be known: what was done to it from here, how the system says it ended, its last
 * words, and whether the system's OOM killer has struck. Pure; who gathers the facts is the pool.
 */
import type { OomKills } from "../memory/index.ts";
import type { DeathReason, KillReason } from "../protocol/index.ts";

export interface DeathFacts {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it was ended from here; "asked": it was told to go. Null: nobody here did anything to it. */
  readonly order: KillReason | "asked" | null;
  /** The end of its log. */
  readonly words: string;
  /** By how much the counters have risen around its death. */
  readonly oomKills: OomKills;
}

/**
 * V8 that reached its limit, V8 that could not get what its limit allows, and native code (the kernel's C++) that was
 * refused memory: all are out of memory, and a smaller task may not be.
 */
const OUT_OF_MEMORY =
  /heap out of memory|process out of memory|Array buffer allocation failed|ArrayBuffer::New Allocation failed|std::bad_alloc/i;

/** Signals by which a process ends itself, in native code: an abort, or an access or instruction that cannot be. */
const NATIVE = new Set(["SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE", "SIGTRAP", "SIGSYS"]);

export function causeOfDeath({ exitCode, signal, order, words, oomKills }: DeathFacts): DeathReason {
  // The system may strike while the order is on its way: what it has counted is a fact, the order was an intention.
  if (order === "monitor" || order === "terminate") return (signal === "SIGKILL" ? oomKillOf(oomKills) : null) ?? order;
  if (order !== null) return "asked";
  if (signal === null) return exitCode === null ? "signal" : "exit";
  // Only with the signal: anybody can write these words, and go on.
  if (NATIVE.has(signal)) return OUT_OF_MEMORY.test(words) ? "heap" : "native";
  return (signal === "SIGKILL" ? oomKillOf(oomKills) : null) ?? "signal";
}

/** Whose limit it was, if the system has killed one of ours at all. */
export function oomKillOf({ container, ours }: OomKills): "systemOom" | "cgroupOom" | null {
  if (ours === 0) return null;
  return container > 0 ? "cgroupOom" : "systemOom";
}
