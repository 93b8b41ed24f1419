/**
 * Whether the system's OOM killer ends all processes of this container at once (`memory.oom.group`, version 2), as it
 * does in Kubernetes since 1.28: then no worker can die in the place of the program.
 */
import { totalmem } from "node:os";
import { join } from "node:path";
import type { Bytes } from "../protocol/index.ts";
import { limitingGroup, memoryGroups } from "./groups.ts";
import { type ReadText, systemFiles } from "./system-files.ts";

/** The group whose processes end together: the outermost one, up to the group whose limit decides. Null: none. */
export function groupThatEndsTogether(read: ReadText = systemFiles.read, machine: Bytes = totalmem()): string | null {
  const inside = limitingGroup(memoryGroups(read), machine, read)?.inside ?? [];
  return inside.findLast(({ path }) => read(join(path, "memory.oom.group"))?.trim() === "1")?.path ?? null;
}
