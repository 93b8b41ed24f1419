/** `spillway config`: every setting with its value in force, its meaning on this machine, and its source. */
import type { Command } from "commander";
import { type Config, leaves, readConfig, SCHEMA, settingsShown, settingsTable } from "../../config/index.ts";
import { onThisMachine, type ResolvedOptions } from "../../session/options.ts";
import { formatSize } from "../../units/index.ts";
import { settingsOf } from "../settings.ts";
import { table } from "../table.ts";
import { json, say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway config
  spillway config --json
  spillway config --worker.memory.target 0.5    with this setting
`;

export function define(command: Command): void {
  const settings = settingsOf(command);
  command
    .option("--json", "for programs")
    .option("--markdown", "the settings that there are, as a table")
    .addHelpText("after", EXAMPLES)
    .action((options: { json?: true; markdown?: true }) => {
      if (options.markdown) return say(settingsTable());
      const given = readConfig({ arguments: settings() });
      const here = comesTo(onThisMachine(given));
      say(options.json ? asJson(given, here) : asText(given, here));
    });
}
function asText(config: Config, here: ReadonlyMap<string, string>): string {
  const rows = settingsShown(config).map(({ path, value, from }) => [path, value, here.get(path) ?? "", from]);
  return table([["setting", "value", "here", "from"], ...rows], { hasHead: true });
}

/** A setting without a value or default is null. A setting that may hold a secret is shown as people see it. */
function asJson(config: Config, here: ReadonlyMap<string, string>): string {
  const shown = new Map(settingsShown(config).map(({ path, value }) => [path, value]));
  const settings = leaves(SCHEMA).map(([path, setting]) => {
    const { kind, name } = config.sources.get(path) ?? { kind: "default", name: "default" };
    const given = config.inForce.get(path) ?? null;
    const value = setting.kind.isSecret === true ? (shown.get(path) ?? null) : given;
    return [path, { value, here: here.get(path), kind, from: name }];
  });
  return json(Object.fromEntries(settings));
}

/** The resolved values of settings that depend on the machine. */
function comesTo(options: ResolvedOptions): ReadonlyMap<string, string> {
  const { workerMemory, maxSpill, targetMinBlockSize, resources } = options;
  return new Map([
    ...(maxSpill === null ? [] : [["maxSpill", formatSize(maxSpill)] as const]),
    ["workers", String(options.workers)],
    ["objectStoreMemory", formatSize(options.capacity)],
    ["memoryLimit", workerMemory === null ? "none" : formatSize(workerMemory)],
    ["localDirectory", options.localDirectories.join(", ")],
    ["resourceLimits.cpu", String(resources.cpu)],
    ["resourceLimits.gpu", String(resources.gpu)],
    ["resourceLimits.memory", formatSize(resources.memory)],
    ["targetMaxBlockSize", formatSize(options.targetMaxBlockSize)],
    ["targetMinBlockSize", targetMinBlockSize === false ? "none" : formatSize(targetMinBlockSize)],
    ["targetShuffleMaxBlockSize", formatSize(options.targetShuffleMaxBlockSize)],
  ]);
}
