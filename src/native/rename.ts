/**
 * What Node's rename lacks: exchanging two directories in one step, and renaming only to a free name. Also locks and
 * access lists of directories. Linux only.
 */
import { lastErrno } from "./foreign.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

/** Paths are not relative to an open directory. */
const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const LOCK_EX_NB = 2 | 4;
const EINTR = 4;
const EWOULDBLOCK = 11;

const renameat2 = fromC<[number, string, number, string, number], number>(
  "int renameat2(int fromDirectory, const char* from, int toDirectory, const char* to, uint32 flags)",
);
const getxattr = fromC<[string, string, number, number], number>(
  "int64 getxattr(const char* path, const char* name, uint64 value, uint64 size)",
);
const flock = fromC<[number, number], number>("int flock(int fd, int operation)");

/** Exchanges the two paths in one step. Returns the error's name, or null. */
export function exchange(a: string, b: string): string | null {
  return renamed(a, b, RENAME_EXCHANGE);
}

/** Renames only if the new name is free: EEXIST otherwise. Returns the error's name, or null. */
export function renameToFree(from: string, to: string): string | null {
  return renamed(from, to, RENAME_NOREPLACE);
}

function renamed(from: string, to: string, flags: number): string | null {
  if (!isLinux) return "ENOSYS";
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags) === 0 ? null : errnoName();
}

/** Whether the path has access rules beyond owner, group and mode. */
export function hasAccessList(path: string): boolean {
  if (!isLinux) return false;
  return ["system.posix_acl_access", "system.posix_acl_default"].some((name) => getxattr(path, name, 0, 0) >= 0);
}

/**
 * Locks an open file or directory against all others that lock it in this way, until it is closed or its process ends.
 * "unsupported": the file system has no such locks.
 */
export function tryLock(fd: number): "locked" | "busy" | "unsupported" {
  if (!isLinux) return "unsupported";
  for (;;) {
    if (flock(fd, LOCK_EX_NB) === 0) return "locked";
    const code = lastErrno();
    if (code !== EINTR) return code === EWOULDBLOCK ? "busy" : "unsupported";
  }
}
