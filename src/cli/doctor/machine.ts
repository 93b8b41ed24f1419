/** Examines Node, memory, control groups, process limits and allocators. */
import { availableParallelism, totalmem } from "node:os";
import { groupThatEndsTogether, nodeMemory, type ReadText } from "../../memory/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { type Finding, good, note, wrong } from "./finding.ts";

/** Below this, a session starts fewer workers with small blocks. */
const SMALL_MEMORY: Bytes = 512 * 2 ** 20;
/** A process of a session needs a descriptor for each worker, for spill files, and for what functions open. */
const FEW_FILES = 1024;

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const atLeast = (wanted: number, minorWanted: number) => major > wanted || (major === wanted && minor >= minorWanted);
  if (!atLeast(20, 15)) return wrong("node", `${version} is too old`, "Install Node 20.15 or later.");
  const missing = [
    ...(atLeast(22, 15) ? [] : ["zstd files and spillCompression zstd need 22.15"]),
    ...(atLeast(22, 18) ? [] : ["TypeScript without tsx needs 22.18"]),
  ];
  return good("node", missing.length === 0 ? version : `${version} (${missing.join("; ")})`);
}

export function memory(read: ReadText): Finding {
  const [usable, machine] = [nodeMemory(read), totalmem()];
  const limit =
    usable < machine ? `${formatSize(usable)} by a control group, of ${formatSize(machine)}` : formatSize(usable);
  const text = `${limit}, ${availableParallelism()} cores`;
  if (usable >= SMALL_MEMORY) return good("memory", text);
  return note("memory", text, "Sessions run with one worker and small blocks. Raise the container's memory limit.");
}

/** Limits of processes (`ulimit`); empty when there is no /proc. */
export function limits(read: ReadText, capacity: Bytes): readonly Finding[] {
  const table = read("/proc/self/limits");
  if (table === null) return [];
  const soft = (name: string) => {
    const value = new RegExp(`^${name} +(\\S+)`, "m").exec(table)?.[1] ?? "unlimited";
    return value === "unlimited" ? Number.POSITIVE_INFINITY : Number(value);
  };
  const [files, fileSize, address] = [soft("Max open files"), soft("Max file size"), soft("Max address space")];
  const found: Finding[] = [
    files < FEW_FILES
      ? wrong("open files", `${files} at most`, `Run ulimit -n 65536 before the program, or raise it in limits.conf.`)
      : good("open files", files === Number.POSITIVE_INFINITY ? "no limit" : `${files} at most`),
  ];
  if (fileSize < capacity) {
    const text = `${formatSize(fileSize)} at most, less than the store's ${formatSize(capacity)}`;
    found.push(wrong("file size", text, "Run ulimit -f unlimited: the store and spill files are larger."));
  }
  if (address < Number.POSITIVE_INFINITY) {
    const text = `${formatSize(address)} at most`;
    found.push(
      wrong("address space", text, "Run ulimit -v unlimited: Node and the store reserve far more than they use."),
    );
  }
  return found;
}

export function overcommit(read: ReadText): readonly Finding[] {
  if (read("/proc/sys/vm/overcommit_memory")?.trim() !== "2") return [];
  const remedy = "Run sysctl vm.overcommit_memory=0: Node reserves far more memory than it uses.";
  return [note("overcommit", "vm.overcommit_memory is 2: reservations count as use", remedy)];
}

/** Nothing is said where the system kills one process at a time. */
export function groupKill(read: ReadText): readonly Finding[] {
  const group = groupThatEndsTogether(read);
  if (group === null) return [];
  const text = `memory.oom.group is 1 in ${group}: the system ends the program together with a worker`;
  const remedy = "Set it to 0 (Kubernetes: singleProcessOOMKill: true in the kubelet's settings).";
  return [note("OOM killer", text, remedy)];
}
