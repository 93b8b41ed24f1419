/** What the invented session answers when a page asks. */
import type {
  BlocksView,
  DeathCard,
  FlameNode,
  FlameProfile,
  LogFile,
  LogText,
  OperatorDetails,
  ProfileFile,
  SettingRow,
  TaskCard,
  TaskLane,
  TaskStream,
} from "../../../src/dashboard/api.ts";
import { NOW, operatorCard, type World } from "./invented.ts";

const MIB = 2 ** 20;

/** Spans of `world.tasks` tasks, put together where they share a pixel. */
export function tasksView(world: World, from: number, to: number, width: number, now: number): TaskStream {
  const perPixel = (to - from) / Math.max(1, width);
  const perLane = Math.max(1, Math.ceil(world.tasks / world.workers));
  const lanes = Array.from({ length: world.isEmpty ? 0 : world.workers }, (_none, lane) =>
    laneOf(world, lane, perLane, from, Math.min(to, now), perPixel, now),
  );
  const disk: TaskLane = {
    name: "disk",
    kind: "disk",
    spans: Array.from({ length: 24 }, (_none, index) => {
      const start = 9000 + index * 3100;
      return [start, start + 700 + (index % 5) * 130, -1, index % 3 === 0 ? "restore" : "spill", 1] as const;
    }),
  };
  return {
    from,
    to,
    operators: world.operators.map((name, index) => ({ key: `1/${index}`, name })),
    lanes: world.isEmpty ? [] : [...lanes, disk],
    leftOut: 0,
  };
}

function laneOf(
  world: World,
  lane: number,
  tasks: number,
  from: number,
  to: number,
  perPixel: number,
  now: number,
): TaskLane {
  const spans: [number, number, number, "task" | "killed" | "retried" | "failed", number][] = [];
  const step = now / tasks;
  for (let index = 0; index < tasks; index++) {
    const start = Math.round(index * step + lane * 3);
    const end = Math.round(start + step * (0.6 + ((index * 7 + lane) % 5) * 0.08));
    if (end < from || start > to) continue;
    const progress = start / now;
    const operator = Math.min(world.operators.length - 1, Math.floor(progress * 3) + ((index + lane) % 3));
    const kind = index === 31 && lane === 1 ? "killed" : index === 33 && lane === 2 ? "retried" : "task";
    const last = spans.at(-1);
    if (
      last !== undefined &&
      kind === "task" &&
      last[3] === "task" &&
      start - last[1] < perPixel &&
      end - last[0] < perPixel * 2
    ) {
      last[1] = end;
      last[4]++;
    } else spans.push([start, Math.min(end, now), operator, kind, 1]);
  }
  return { name: `worker ${lane}`, kind: "worker", spans };
}

function taskCard(index: number): TaskCard {
  return {
    id: `t${index}`,
    index,
    worker: index % 4,
    phase: "over",
    startedAt: 1000 + index * 190,
    endedAt: 1000 + index * 190 + 200 + ((index * 37) % 900),
    bytesIn: 8 * MIB,
    rowsIn: 10_000,
    rowsOut: 9_000,
    bytesOut: 6 * MIB,
    memory: null,
    peakMemory: (100 + ((index * 53) % 240)) * MIB,
    attempts: index % 50 === 3 ? 2 : 1,
  };
}

export function operatorView(world: World, index: number): OperatorDetails {
  const times = Array.from({ length: 200 }, (_none, at) => NOW - 60_000 + at * 300);
  const curve = (worker: number) => times.map((at) => (180 + 120 * Math.sin(at / 4000 + worker)) * MIB);
  return {
    card: operatorCard(world, index, NOW),
    tasks: Array.from({ length: Math.min(200, world.tasks) }, (_none, task) => taskCard(task)),
    tasksLeftOut: Math.max(0, world.tasks - 200),
    memory: { t: times, values: { "task 0": curve(0), "task 1": curve(1), "task 2, attempt 2": curve(2) } },
    memoryLeftOut: 40,
    findings: [
      {
        kind: "backpressure",
        severity: "warning",
        operator: index,
        text: `${world.operators[index]} was held back for 4.2 s by what reads its blocks: ${world.text}`,
        remedies: [
          "Give mapBatches(embed) more tasks at once: concurrency: 4.",
          "Make its batches smaller: batchSize: 512.",
        ],
      },
    ],
  };
}

export function blocksView(world: World): BlocksView {
  if (world.isEmpty) return { groups: [], blocks: [], leftOut: 0 };
  return {
    groups: world.operators.slice(0, 5).map((operator, index) => ({
      operator,
      key: `1/${index}`,
      blocks: 40 + index,
      inMemory: (320 - index * 50) * MIB,
      onDisk: index * 61 * MIB,
      oldest: 12_000 - index * 800,
      holders: [world.operators[index + 1] ?? "program", "program"],
    })),
    blocks: Array.from({ length: 60 }, (_none, id) => ({
      id,
      operator: world.operators[id % world.operators.length] ?? "",
      bytes: (64 - id) * MIB,
      rows: 100_000 - id * 1000,
      state: id % 3 === 0 ? "spilled" : "resident",
      holder: world.operators[(id + 1) % world.operators.length] ?? "",
      age: 900 + id * 60,
      worker: id % 4,
    })),
    leftOut: 152,
  };
}

export function deathsView(world: World): readonly DeathCard[] {
  if (world.isEmpty) return [];
  const curve = Array.from({ length: 40 }, (_none, index) => [30_000 + index * 200, (240 + 19 * index) * MIB] as const);
  const first: DeathCard = {
    id: 1,
    at: 38_000,
    worker: 1,
    pid: 5001,
    reason: "terminate",
    isMemory: true,
    exitCode: null,
    signal: "SIGKILL",
    task: "1/2/31",
    operator: world.operators[2] ?? null,
    files: ["data/part-00031.parquet", world.text],
    why: "It had 981 MiB of its limit of 1.0 GiB, above terminate (95 %).",
    limit: 1024 * MIB,
    curve,
    nodeCurve: curve.map(([at, size]) => [at, 5000 * MIB + size] as const),
    node: { used: 6_200 * MIB, total: 8_192 * MIB, threshold: 0.95 },
    users: [
      { pid: 5001, name: `worker 1 (${world.operators[2]})`, private: 981 * MIB },
      { pid: 4700, name: "program", private: 410 * MIB },
      { pid: 5003, name: `worker 3 (${world.operators[1]})`, private: 220 * MIB },
    ],
    beside: [
      { worker: 0, operator: world.operators[1] ?? "", private: 210 * MIB },
      { worker: 3, operator: world.operators[1] ?? "", private: 220 * MIB },
    ],
    attempts: [
      { at: 30_000, text: "batchSize 4,096, 4 tasks at once" },
      { at: 38_100, text: "batchSize 2,048, 2 tasks at once, 1.2 GiB" },
    ],
    remedies: [
      'Give mapBatches(embed) what it needs: memory: "1.3 GiB".',
      "Make its batches smaller: batchSize: 2048.",
      'Give workers a larger limit: memoryLimit: "2 GiB".',
    ],
    log: "worker-1.log",
    profile: "worker-1.heapprofile",
  };
  return [
    first,
    { ...first, id: 2, at: 51_000, reason: "signal", isMemory: false, worker: 2, pid: 5002, signal: "SIGSEGV" },
  ];
}

export function logFiles(): readonly LogFile[] {
  return ["supervisor.log", "worker-0.log", "worker-1.log"].map((name, index) => ({
    name,
    bytes: name === "worker-1.log" ? 10 * MIB : 2000,
    modified: 60_000 + index,
    worker: index === 0 ? null : index - 1,
  }));
}

/** `worker-1.log` has one line of 10 MiB. */
export function logText(world: World, name: string): string {
  if (name !== "worker-1.log") return `2026-11-18 line\n${world.text}\n`.repeat(40);
  return `first line\n${"x".repeat(10 * MIB)}\nlast line\n`;
}

export function logView(world: World, name: string, from: number, find: string | null): LogText {
  const whole = logText(world, name);
  const text = whole.slice(from, from + 65_536);
  const lines = whole.split("\n").filter((line) => find !== null && line.includes(find));
  const found = { total: lines.length, lines: lines.map((line, at) => ({ at, text: line.slice(0, 2000) })) };
  return { name, size: whole.length, from, to: from + text.length, text, ...(find === null ? {} : { found }) };
}

export function profileFiles(world: World): readonly ProfileFile[] {
  return world.isEmpty
    ? []
    : [
        {
          name: "worker-1.heapprofile",
          bytes: 48_000,
          modified: 70_000,
          worker: 1,
          operator: world.operators[2] ?? null,
        },
      ];
}

export function flameView(world: World): FlameProfile {
  const leaf = (name: string, place: string, own: number, kind: FlameNode["kind"]): FlameNode => {
    return { name, place, kind, own, total: own, children: [] };
  };
  const node = (name: string, place: string | null, children: readonly FlameNode[]): FlameNode => {
    return {
      name,
      place,
      kind: "code",
      own: 0,
      total: children.reduce((sum, child) => sum + child.total, 0),
      children,
    };
  };
  const embed = node("embed", "src/embed.ts:12", [
    leaf("Buffer", "src/embed.ts:18", 200 * MIB, "buffer"),
    node("tokens", "src/tokens.ts:4", [
      leaf("objects", "src/tokens.ts:9", 80 * MIB, "heap"),
      leaf(world.text, "src/tokens.ts:11", 20 * MIB, "heap"),
    ]),
  ]);
  const root = node("all", null, [
    node("runTask", null, [embed, leaf("blocks", "", 40 * MIB, "block")]),
    leaf("engine", "", 30 * MIB, "engine"),
    leaf("unattributed", "", 12 * MIB, "unattributed"),
  ]);
  return {
    title: `Worker 1: ${world.operators[2]}`,
    views: [
      { name: "peak", root },
      { name: "end", root: node("all", null, [leaf("engine", "", 30 * MIB, "engine")]) },
    ],
    moments: [5900, 5900],
    curve: Array.from({ length: 60 }, (_none, at) => [at * 100, (60 + 5 * at) * MIB] as const),
  };
}

export function settingRows(world: World): readonly SettingRow[] {
  return [
    { path: "objectStoreMemory", value: "2 GiB", from: "option of session()" },
    { path: "worker.memory.pause", value: "0.8", from: "default" },
    { path: "localDirectory", value: world.text, from: "SPILLWAY_LOCAL_DIRECTORY" },
  ];
}
