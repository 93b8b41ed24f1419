/** Files in memory without a name: they are gone when they are closed, or when the process ends. Linux only. */
import { StoreError } from "../errors/index.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

const MFD_CLOEXEC = 1;

const create = fromC<[string, number], number>("int memfd_create(const char* name, uint32 flags)");

/** Null when the system has no such files. Children do not inherit the file. */
export function openMemoryFile(name: string): { readonly fd: number; readonly path: string } | null {
  if (!isLinux) return null;
  const fd = create(name, MFD_CLOEXEC);
  if (fd < 0) throw new StoreError(`A file in memory could not be made: ${errnoName()}.`);
  return { fd, path: `/proc/self/fd/${fd}` };
}
