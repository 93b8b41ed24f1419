/**
 * A name for the node whose memory sessions share: the control group whose limit counts, or the machine. Containers
 * that share a home or a temporary directory have different ones, and so have machines.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { totalmem } from "node:os";
import { limitingGroup, memoryGroups } from "./groups.ts";
import { type ReadText, systemFiles } from "./system-files.ts";

const LENGTH = 12;

export function nodeKey(read: ReadText = systemFiles.read): string {
  const group = limitingGroup(memoryGroups(read), totalmem(), read);
  // A group's path differs from inside and from outside of a container; its number in the system does not.
  const stats = group === null ? undefined : statSync(group.path, { throwIfNoEntry: false });
  const place = stats === undefined ? "machine" : `${stats.dev}:${stats.ino}`;
  const boot = read("/proc/sys/kernel/random/boot_id") ?? "";
  return createHash("sha256").update(`${boot.trim()} ${place}`).digest("hex").slice(0, LENGTH);
}
