/** `spillway info`: the resources and the memory plan that a session would have with the settings in force. */
import type { Command } from "commander";
import { readConfig } from "../../config/index.ts";
import { nodeMemory } from "../../memory/index.ts";
import { memoryPlan } from "../../session/memory-plan.ts";
import { onThisMachine, type ResolvedOptions } from "../../session/options.ts";
import { stateRoot } from "../../session/state-root.ts";
import { formatSize } from "../../units/index.ts";
import { settingsOf } from "../settings.ts";
import { listing } from "../table.ts";
import { json, say } from "../terminal.ts";
import { version } from "../version.ts";

const EXAMPLES = `
Examples:
  spillway info
  spillway info --workers 4 --memory-limit 4GiB    with these settings
  spillway info --json
`;

export function define(command: Command): void {
  const settings = settingsOf(command);
  command
    .option("--json", "for programs")
    .addHelpText("after", EXAMPLES)
    .action((options: { json?: true }) => {
      const here = onThisMachine(readConfig({ arguments: settings() }));
      say(options.json ? json(asFields(here)) : `${asText(here)}\n${memoryPlan(here)}\n`);
    });
}

function asText(options: ResolvedOptions): string {
  const { maxSpill, workerMemory } = options;
  const most = `${maxSpill === null ? "the free space of the directories" : `${formatSize(maxSpill)} at most`} (maxSpill)`;
  const each = workerMemory === null ? "without a memory limit" : `with ${formatSize(workerMemory)} of memory each`;
  return listing([
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
    ...options.notices.map((notice) => ["notice", notice] as const),
  ]);
}

/** Sizes are in bytes. */
function asFields(options: ResolvedOptions): Readonly<Record<string, unknown>> {
  return {
    version: version(),
    node: process.version,
    memory: nodeMemory(),
    workers: options.workers,
    workerMemory: options.workerMemory,
    resources: options.resources,
    store: options.capacity,
    targetMaxBlockSize: options.targetMaxBlockSize,
    localDirectories: options.localDirectories,
    maxSpill: options.maxSpill,
    logs: stateRoot(),
    notices: options.notices,
    memoryPlan: memoryPlan(options),
  };
}
