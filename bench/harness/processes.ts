/**
 * What /proc says about a process and its descendants. Linux only; elsewhere there is nothing to read, and the report
 * says so. A process is identified by its id and its start time, because ids are reused.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Bytes } from "../workload.ts";

export interface ProcessId {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly started: string;
}

export interface ProcessEntry extends ProcessId {
  readonly parent: number;
  /** The state letter. Z is a process that has ended and was not waited for. */
  readonly state: string;
}

export interface Resident {
  readonly resident: Bytes;
  /** File-backed and shared pages: libraries, the arena. */
  readonly shared: Bytes;
}

/** `statm` counts pages, which have 4 KiB on x64 and up to 64 KiB on arm64. */
const PAGE: Bytes = process.arch === "arm64" ? pageSizeOfSelf() : 4096;

function pageSizeOfSelf(): Bytes {
  const smaps = read("/proc/self/smaps") ?? "";
  const kib = /^KernelPageSize:\s+(\d+) kB/m.exec(smaps)?.[1];
  return kib === undefined ? 4096 : Number(kib) * 1024;
}

/** Null if the process has ended meanwhile, which is no error here. */
function read(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

export function processEntry(pid: number): ProcessEntry | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) {
    return null;
  }
  // The name in parentheses may contain anything, so fields are counted after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid, state: fields[0] ?? "", parent: Number(fields[1]), started: fields[19] ?? "" };
}

export function residentOf(pid: number): Resident | null {
  const [, resident, shared] = (read(`/proc/${pid}/statm`) ?? "").split(" ");
  return resident === undefined || shared === undefined
    ? null
    : { resident: Number(resident) * PAGE, shared: Number(shared) * PAGE };
}

/** The system's own high-water mark of resident memory, which sampling cannot miss. */
export function peakResidentOf(pid: number): Bytes {
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1];
  return kib === undefined ? 0 : Number(kib) * 1024;
}

export function commandOf(pid: number): string {
  return (read(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trim();
}

export function allProcesses(): ProcessEntry[] {
  const pids = readdirSync("/proc").filter((name) => name.charCodeAt(0) <= 57 && Number.isInteger(Number(name)));
  return pids.map((pid) => processEntry(Number(pid))).filter((entry) => entry !== null);
}

export function isAlive(id: ProcessId): boolean {
  const entry = processEntry(id.pid);
  return entry !== null && entry.started === id.started && entry.state !== "Z";
}
