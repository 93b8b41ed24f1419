/** What a process can ask the system to do to itself. */
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
 * The system kills this process when its parent dies, even by SIGKILL. Only Linux can; elsewhere a child finds out when
 * its socket closes. A parent that died before the call goes unnoticed: compare `process.ppid` afterwards.
 */
export function dieWithParent(): void {
  if (isLinux && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) !== 0) {
    throw new StoreError(`prctl(PR_SET_PDEATHSIG) failed: ${errnoName()}.`);
  }
}

/**
 * Processes below this one that lose their parent become its children, instead of the system's first process's. Node
 * asks how the children ended that it has started, and no others: `reap` these, or they stay as zombies. Only Linux
 * can.
 */
export function adoptOrphans(): void {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) {
    throw new StoreError(`prctl(PR_SET_CHILD_SUBREAPER) failed: ${errnoName()}.`);
  }
}

/** Asks how a child has ended, which lets go of it; false: it has not ended. Never one that Node has started. */
export function reap(pid: number): boolean {
  return waitpid(pid, 0, WNOHANG) === pid;
}

/**
 * No more than so many bytes of private, writable memory can be mapped from now on (`VmData` of /proc/self/status,
 * touched or not): an allocation beyond that fails, instead of being given and ending the machine. Null: as many as
 * this process may have at all. Children begin with the same limit. Only Linux counts so; elsewhere nothing happens.
 */
export function limitData(bytes: number | null): void {
  if (!isLinux) return;
  // struct rlimit: the limit in force, and the highest that may be asked for.
  const limits = new BigUint64Array(2);
  const at = addressOfBuffer(limits.buffer);
  if (getrlimit(RLIMIT_DATA, at) !== 0) throw new StoreError(`getrlimit(RLIMIT_DATA) failed: ${errnoName()}.`);
  const [, highest = 0n] = limits;
  const isLower = bytes !== null && BigInt(Math.floor(bytes)) < highest;
  limits[0] = isLower ? BigInt(Math.floor(bytes)) : highest;
  if (setrlimit(RLIMIT_DATA, at) !== 0) throw new StoreError(`setrlimit(RLIMIT_DATA) failed: ${errnoName()}.`);
}
