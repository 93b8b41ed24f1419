/** `spillway config`: every setting, its value in force, what it means on this machine, and where it came from. */
import { type Config, leaves, readConfig, SCHEMA, settingsTable, shownDefault } from "../config/index.ts";
import { onThisMachine, type ResolvedOptions } from "../session/options.ts";
import { formatSize } from "../units/index.ts";
import { inColumns } from "./columns.ts";

export function config(words: readonly string[]): string {
  if (words.includes("--markdown")) return settingsTable();
  const given = readConfig({ arguments: words.filter((word) => word !== "--json") });
  const here = comesTo(onThisMachine(given));
  return words.includes("--json") ? asJson(given, here) : asText(given, here);
}

function asText({ inForce, sources }: Config, here: ReadonlyMap<string, string>): string {
  const rows = leaves(SCHEMA).map(([path, setting]) => {
    const value = inForce.get(path);
    const shown = value === undefined ? `(${shownDefault(setting)})` : JSON.stringify(value);
    return [path, shown, here.get(path) ?? "", sources.get(path)?.name ?? "default"];
  });
  return inColumns([["setting", "value", "here", "from"], ...rows]);
}

/** A setting without value and default is null. */
function asJson({ inForce, sources }: Config, here: ReadonlyMap<string, string>): string {
  const settings = leaves(SCHEMA).map(([path]) => {
    const { kind, name } = sources.get(path) ?? { kind: "default", name: "default" };
    return [path, { value: inForce.get(path) ?? null, here: here.get(path), kind, from: name }];
  });
  return `${JSON.stringify(Object.fromEntries(settings), null, 2)}\n`;
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
