/**
 * Every setting there is, through each of the doors by which it can come: the file, a variable, code and the command
 * line.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leaves, readConfig, SCHEMA, type SessionOptions, variableOf } from "../../src/config/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("config-doors");
const file = join(directory, "spillway.yaml");

/**
 * A text, as in YAML, in a variable and on the command line, and the value that it stands for; no default among them.
 */
const SAMPLES: Readonly<Record<string, readonly (readonly [text: string, value: unknown])[]>> = {
  workers: [["3", 3]],
  objectStoreMemory: [
    ["4 GiB", "4 GiB"],
    ["0.25", 0.25],
    ["40%", "40%"],
    ["1e9", 1e9],
  ],
  memoryLimit: [
    ["auto", "auto"],
    ["2 GiB", "2 GiB"],
    ["0.5", 0.5],
    ["0", 0],
    ["false", false],
  ],
  localDirectory: [['["/a", "/b"]', ["/a", "/b"]]],
  maxSpill: [["512 MB", "512 MB"]],
  spillCompression: [["lz4", "lz4"]],
  dashboard: [
    ["false", false],
    ["9000", 9000],
  ],
  shareNode: [["false", false]],
  eventFileLimit: [["16 MiB", "16 MiB"]],
  "worker.memory.target": [
    ["0.5", 0.5],
    ["false", false],
  ],
  "worker.memory.spill": [
    ["0.75", 0.75],
    ["false", false],
  ],
  "worker.memory.pause": [
    ["0.85", 0.85],
    ["false", false],
  ],
  "worker.memory.terminate": [
    ["1", 1],
    ["false", false],
  ],
  "worker.memory.recentToOldTime": [
    ["1m", "1m"],
    ["0", 0],
  ],
  "worker.memory.monitorInterval": [
    ["100", 100],
    ["1.5s", "1.5s"],
  ],
  "worker.memory.pausedTooLong": [["2m", "2m"]],
  measure: [["managed", "managed"]],
  memoryUsageThreshold: [
    ["0.9", 0.9],
    ["false", false],
  ],
  memoryMonitorRefreshMs: [
    ["0", 0],
    ["100", 100],
  ],
  maxRetries: [["0", 0]],
  maxOomRetries: [["0", 0]],
  maxErroredBlocks: [["7", 7]],
  "resourceLimits.cpu": [
    ["1.5", 1.5],
    ["80%", "80%"],
  ],
  "resourceLimits.gpu": [["0", 0]],
  "resourceLimits.memory": [["50%", "50%"]],
  "resourceLimits.objectStoreMemory": [["1 GiB", "1 GiB"]],
  targetMaxBlockSize: [
    ["64 MiB", "64 MiB"],
    ["false", false],
  ],
  targetMinBlockSize: [
    ["64 KiB", "64 KiB"],
    ["false", false],
  ],
  targetShuffleMaxBlockSize: [["256 MiB", "256 MiB"]],
  preset: [["etl", "etl"]],
  eager: [["true", true]],
  preserveOrder: [["true", true]],
  exchange: [["true", true]],
  localityWithOutput: [["true", true]],
  progress: [["false", false]],
  allocator: [["jemalloc", "jemalloc"]],
  mallocTrimThreshold: [
    ["1 MiB", "1 MiB"],
    ["0", 0],
    ["false", false],
  ],
  workerEnv: [['{"A": "1", "B": "x,y"}', { A: "1", B: "x,y" }]],
  workerExecArgv: [['["--expose-gc"]', ["--expose-gc"]]],
};

const settings = leaves(SCHEMA).filter(([, { kind }]) => kind.onlyInCode !== true);

test.each(settings)("[K8] %s comes from the file, a variable, code and the command line", (path) => {
  const keys = path.split(".");
  const samples = SAMPLES[path] ?? [];
  expect(samples.length, `${path} has a sample`).toBeGreaterThan(0);
  for (const [text, value] of samples) {
    writeFileSync(
      file,
      keys
        .map((key, depth) => `${"  ".repeat(depth)}${key}:`)
        .join("\n")
        .concat(` ${text}\n`),
    );
    const code = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as SessionOptions;
    const none = { SPILLWAY_CONFIG: "/dev/null" };
    for (const [kind, name, config] of [
      ["file", `${file}:${keys.length}`, readConfig({ environment: { SPILLWAY_CONFIG: file } })],
      ["variable", variableOf(path), readConfig({ environment: { ...none, [variableOf(path)]: text } })],
      ["code", "session", readConfig({ environment: none, code })],
      ["option", `--${path}`, readConfig({ environment: none, arguments: [`--${path}`, text] })],
      ["option", `--${path}`, readConfig({ environment: none, arguments: [`--${path}=${text}`] })],
    ] as const) {
      expect(config.inForce.get(path), kind).toEqual(value);
      expect([...config.sources], kind).toEqual([[path, { kind, name }]]);
    }
  }
});
