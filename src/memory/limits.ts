/** How much memory this process may use: the machine's, or less if a control group limits it. */
import { totalmem } from "node:os";
import type { Bytes } from "../protocol/index.ts";
import { limitingGroup, memoryGroups } from "./groups.ts";
import { type ReadText, systemFiles } from "./system-files.ts";

export function nodeMemory(read: ReadText = systemFiles.read, machine: Bytes = totalmem()): Bytes {
  return limitingGroup(memoryGroups(read), machine, read)?.limit ?? machine;
}
