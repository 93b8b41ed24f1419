/** What a process can ask the system to do to itself. */
import { StoreError } from "../errors/index.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

const prctl = fromC<[number, number, number, number, number], number>(
  "int prctl(int option, uint64 a, uint64 b, uint64 c, uint64 d)",
);

/**
 * The system kills this process when its parent dies, even by SIGKILL. Only Linux can; elsewhere a child finds out when
 * its socket closes. A parent that died before the call goes unnoticed: compare `process.ppid` afterwards.
 */
export function dieWithParent(): void {
  if (isLinux && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) !== 0) {
    throw new StoreError(`prctl(PR_SET_PDEATHSIG) failed: ${errnoName()}.`);
  }
}
