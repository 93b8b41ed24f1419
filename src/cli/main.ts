#!/usr/bin/env node
/** The command line: what this machine gives a session. More commands come with what they show. */
import { readFileSync } from "node:fs";
import { nodeMemory } from "../memory/index.ts";
import { resolveOptions, stateRoot } from "../session/options.ts";
import { formatSize } from "../units/index.ts";

const HELP = `Usage: spillway <command>

  info        what a session on this machine would have: workers, memory, directories
  --version   the version
  --help      this text
`;

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function info(): string {
  const options = resolveOptions({});
  const { maxSpill } = options;
  const most = `${maxSpill === null ? "as much as there is room" : `${formatSize(maxSpill)} at most`} (maxSpill)`;
  const rows: readonly (readonly [string, string])[] = [
    ["version", version()],
    ["node", process.version],
    ["memory", formatSize(nodeMemory())],
    ["workers", `${options.workers}, with ${formatSize(options.workerMemory)} of memory each`],
    ["cpu", `${options.resources.cpu} for tasks (resourceLimits.cpu)`],
    ["gpu", `${options.resources.gpu} for tasks (resourceLimits.gpu)`],
    ["task memory", `${formatSize(options.resources.memory)} in all (resourceLimits.memory)`],
    ["store", `${formatSize(options.capacity)} (objectStoreMemory)`],
    ["block size", `${formatSize(options.targetMaxBlockSize)} at most (targetMaxBlockSize)`],
    ["spilling", `to ${options.localDirectories.join(", ")} (localDirectory), ${most}`],
    ["logs", stateRoot()],
  ];
  return `${rows.map(([name, value]) => `${name.padEnd(16)}${value}`).join("\n")}\n`;
}

const [command] = process.argv.slice(2);
if (command === "info") process.stdout.write(info());
else if (command === "--version") process.stdout.write(`spillway ${version()}\n`);
else if (command === undefined || command === "--help") process.stdout.write(HELP);
else {
  process.stderr.write(`spillway: there is no command "${command}".\n\n${HELP}`);
  process.exitCode = 2;
}
