/** `spillway info`: the resources of a session with the settings in force on this machine. */
import { readConfig } from "../config/index.ts";
import { nodeMemory } from "../memory/index.ts";
import { onThisMachine } from "../session/options.ts";
import { stateRoot } from "../session/state-root.ts";
import { formatSize } from "../units/index.ts";
import { inColumns } from "./columns.ts";
import { version } from "./version.ts";

export function info(words: readonly string[]): string {
  const options = onThisMachine(readConfig({ arguments: words }));
  const { maxSpill, workerMemory } = options;
  const most = `${maxSpill === null ? "the free space of the directories" : `${formatSize(maxSpill)} at most`} (maxSpill)`;
  const each = workerMemory === null ? "without a memory limit" : `with ${formatSize(workerMemory)} of memory each`;
  return inColumns([
    ["version", version()],
    ["node", process.version],
    ["memory", formatSize(nodeMemory())],
    ["workers", `${options.workers}, ${each} (workers, memoryLimit)`],
    ["cpu", `${options.resources.cpu} for tasks (resourceLimits.cpu)`],
    ["gpu", `${options.resources.gpu} for tasks (resourceLimits.gpu)`],
    ["task memory", `${formatSize(options.resources.memory)} for tasks (resourceLimits.memory)`],
    ["store", `${formatSize(options.capacity)} (objectStoreMemory)`],
    ["block size", `${formatSize(options.targetMaxBlockSize)} at most (targetMaxBlockSize)`],
    ["spilling", `to ${options.localDirectories.join(", ")} (localDirectory), ${most}`],
    ["logs", stateRoot()],
    ...options.notices.map((notice) => ["notice", notice]),
  ]);
}
