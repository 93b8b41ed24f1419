/** The C boundary except DuckDB: memory outside the JavaScript heap, files, and calling C in general. */
export { whyNoMallocTrim } from "./allocator.ts";
export { dropPages, punchHole, reserveRange, writeOutAndDrop } from "./files.ts";
export {
  addressOfBuffer,
  callAsync,
  exportFunction,
  functionAt,
  type Library,
  loadLibrary,
  type NativeFunction,
  textAt,
} from "./foreign.ts";
export { libraryC } from "./libc.ts";
export {
  type Allocation,
  addressOf,
  allocate,
  copy,
  mallocTrim,
  mapFile,
  NativeMemory,
  type Pinned,
  pin,
} from "./memory.ts";
export { openMemoryFile } from "./memory-files.ts";
export { openPipe, sendFile } from "./pipes.ts";
export { adoptOrphans, dieWithParent, limitData, reap } from "./process.ts";
export { exchange, hasAccessList, renameToFree, tryLock } from "./rename.ts";
