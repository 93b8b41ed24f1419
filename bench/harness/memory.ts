/**
 * Watches the memory of a program and of every process that it starts, from outside: nothing that is measured reports
 * on itself. Private memory is RSS − SHR, so that the arena, which every process maps, does not count for each of them.
 * A total counts the shared part once.
 */
import type { Bytes } from "../workload.ts";
import {
  allProcesses,
  commandOf,
  isAlive,
  type ProcessId,
  peakResidentOf,
  processEntry,
  residentOf,
} from "./processes.ts";

export type Role = "program" | "supervisor" | "worker" | "other";

export interface ProcessPeak {
  readonly pid: number;
  readonly role: Role;
  readonly command: string;
  readonly private: Bytes;
  readonly resident: Bytes;
}

export interface MemoryPeaks {
  readonly processes: readonly ProcessPeak[];
  /** The highest sum at one moment: Σ(RSS − SHR) + the largest SHR. */
  readonly total: Bytes;
}

/** Often enough for a peak that lasts, and rare enough not to disturb two cores (five processes cost 0.15 ms). */
const SAMPLE_EVERY_MS = 20;
/** Searching all of /proc for new processes cost 1.8 ms with 80 there. */
const DISCOVER_EVERY_SAMPLES = 5;

interface Watched extends ProcessId {
  role: Role;
  command: string;
  private: Bytes;
  resident: Bytes;
}

export class MemoryWatch {
  readonly #root: number;
  readonly #watched = new Map<number, Watched>();
  readonly #ended: Watched[] = [];
  readonly #timer: NodeJS.Timeout | null;
  #samples = 0;
  #total = 0;

  constructor(root: number) {
    this.#root = root;
    this.#timer = process.platform === "linux" ? setInterval(() => this.#sample(), SAMPLE_EVERY_MS) : null;
    if (this.#timer !== null) {
      this.#sample();
    }
  }

  /** The watched processes that still run. */
  alive(): ProcessId[] {
    return [...this.#watched.values()].filter(isAlive);
  }

  stop(): MemoryPeaks {
    if (this.#timer !== null) {
      clearInterval(this.#timer);
    }
    const processes = [...this.#ended, ...this.#watched.values()].map((watched) => ({
      pid: watched.pid,
      role: watched.role,
      command: watched.command,
      private: watched.private,
      resident: watched.resident,
    }));
    return { processes, total: this.#total };
  }

  #sample(): void {
    if (this.#samples++ % DISCOVER_EVERY_SAMPLES === 0) {
      this.#discover();
    }
    let privateSum = 0;
    let largestShared = 0;
    for (const watched of this.#watched.values()) {
      const now = residentOf(watched.pid);
      if (now === null) {
        continue;
      }
      const own = now.resident - now.shared;
      watched.private = Math.max(watched.private, own);
      watched.resident = Math.max(watched.resident, now.resident);
      privateSum += own;
      largestShared = Math.max(largestShared, now.shared);
    }
    this.#total = Math.max(this.#total, privateSum + largestShared);
  }

  /** Once found, a process stays watched, even if its parent ends and another process adopts it. */
  #discover(): void {
    for (const watched of this.#watched.values()) {
      if (isAlive(watched)) {
        this.#look(watched);
      } else {
        this.#watched.delete(watched.pid);
        this.#ended.push(watched);
      }
    }
    const root = processEntry(this.#root);
    if (root !== null && root.state !== "Z") {
      this.#watch(root);
    }
    const entries = allProcesses();
    for (let before = -1; before < this.#watched.size; ) {
      before = this.#watched.size;
      for (const entry of entries) {
        if (this.#watched.has(entry.parent) && entry.state !== "Z") {
          this.#watch(entry);
        }
      }
    }
  }

  #watch(id: ProcessId): void {
    if (!this.#watched.has(id.pid)) {
      const watched: Watched = {
        pid: id.pid,
        started: id.started,
        role: "other",
        command: "",
        private: 0,
        resident: 0,
      };
      this.#look(watched);
      this.#watched.set(id.pid, watched);
    }
  }

  /** Read again each time: between fork and exec a process still shows its parent's command. */
  #look(watched: Watched): void {
    watched.command = commandOf(watched.pid) || watched.command;
    watched.role = roleOf(watched.command, watched.pid === this.#root);
    watched.resident = Math.max(watched.resident, peakResidentOf(watched.pid));
  }
}

function roleOf(command: string, isRoot: boolean): Role {
  if (isRoot) {
    return "program";
  }
  if (command.includes("/supervisor/main.")) {
    return "supervisor";
  }
  return command.includes("/worker/main.") ? "worker" : "other";
}
