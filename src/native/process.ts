/** Calls with which a process asks the system to change the process itself. */
import { StoreError } from "../errors/index.ts";
import { addressOfBuffer } from "./foreign.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

const PR_SET_PDEATHSIG = 1;
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const SIGKILL = 9;
const RLIMIT_DATA = 2;

const prctl = fromC<[number, number, number, number, number], number>(
  "int prctl(int option, uint64 a, uint64 b, uint64 c, uint64 d)",
);
const waitpid = fromC<[number, number, number], number>("int waitpid(int pid, uint64 status, int options)");
const getrlimit = fromC<[number, number], number>("int getrlimit(int resource, uint64 limit)");
const setrlimit = fromC<[number, number], number>("int setrlimit(int resource, uint64 limit)");

/**
 * The system kills this process when its parent dies, even by SIGKILL. Only Linux can do so; elsewhere a child finds
 * out when its socket closes. The call does not notice a parent that has already died: compare `process.ppid`
 * afterwards.
 */
export function dieWithParent(): void {
  if (isLinux && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) !== 0) {
    throw new StoreError(`prctl(PR_SET_PDEATHSIG) failed: ${errnoName()}.`);
  }
}

/**
 * Descendants of this process that lose their parent become its children, instead of the first process's. Node collects
 * the exit status only of children that it started itself: call `reap` for the others, or they stay as zombies. Linux
 * only.
 */
export function adoptOrphans(): void {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) {
    throw new StoreError(`prctl(PR_SET_CHILD_SUBREAPER) failed: ${errnoName()}.`);
  }
}

/**
 * Collects the exit status of a child, which removes it from the system. False: the child has not ended. Must not be
 * called for a child that Node started.
 */
export function reap(pid: number): boolean {
  return waitpid(pid, 0, WNOHANG) === pid;
}

/**
 * Limits how many bytes of private, writable memory can be mapped from now on (`VmData` of /proc/self/status, touched
 * or not): an allocation beyond that fails, instead of succeeding and exhausting the machine. Null: as many as the
 * system allows this process. Children inherit the limit. Linux only; elsewhere nothing happens.
 */
export function limitData(bytes: number | null): void {
  if (!isLinux) return;
  // struct rlimit: the limit in force, and the highest limit that may be set.
  const limits = new BigUint64Array(2);
  const at = addressOfBuffer(limits.buffer);
  if (getrlimit(RLIMIT_DATA, at) !== 0) throw new StoreError(`getrlimit(RLIMIT_DATA) failed: ${errnoName()}.`);
  const [, highest = 0n] = limits;
  const isLower = bytes !== null && BigInt(Math.floor(bytes)) < highest;
  limits[0] = isLower ? BigInt(Math.floor(bytes)) : highest;
  if (setrlimit(RLIMIT_DATA, at) !== 0) throw new StoreError(`setrlimit(RLIMIT_DATA) failed: ${errnoName()}.`);
}
