/**
 * An invented session for the pages: as many workers, operators, tasks and hostile names as a test wants. It speaks
 * the words of src/dashboard/api.ts; real sessions are tested beside it.
 */
import type {
  Happened,
  JobCard,
  Kinds,
  OperatorCard,
  OperatorNow,
  Patch,
  SessionCard,
  Snapshot,
  TotalsCard,
  WorkerCard,
} from "../../../src/dashboard/api.ts";

export interface World {
  readonly workers: number;
  readonly operators: readonly string[];
  readonly tasks: number;
  readonly status: SessionCard["status"];
  /** What users could name things. */
  readonly text: string;
  readonly isEmpty: boolean;
  /** Of what has happened, at the beginning. */
  readonly lines: number;
}

export const NAMES = [
  "readParquet(lineitem)->filter",
  "map(addTax)",
  "mapBatches(embed)",
  "groupBy(city)->agg",
  "join(shops)",
  "writeParquet(out)",
];

export const WORLD: World = {
  workers: 4,
  operators: NAMES,
  tasks: 400,
  status: "running",
  text: "worker 2 is paused: 820 MiB of its 1.0 GiB",
  isEmpty: false,
  lines: 30,
};

const MIB = 2 ** 20;
const LIMIT = 1024 * MIB;
export const NOW = 83_000;

function wave(at: number, seed: number): number {
  return 0.5 + 0.5 * Math.sin(at / 7000 + seed * 1.7) * Math.cos(at / 3100 + seed);
}

function kindsOf(at: number, worker: number): Kinds {
  // Of four workers one is always paused, and one is always above its target.
  const always = worker % 4 === 3 ? 690 : worker % 4 === 1 ? 560 : 60;
  const managed = Math.round((always + 120 * wave(at, worker)) * MIB);
  const unmanaged = Math.round((90 + 40 * wave(at, worker + 3)) * MIB);
  const recent = Math.round(60 * wave(at * 2, worker + 5) * MIB);
  const spilled = Math.round(Math.max(0, wave(at, worker) - 0.4) * 500 * MIB);
  return { process: managed + unmanaged + recent, managed, unmanaged, recent, spilled };
}

export function sessionCard(world: World, at: number): SessionCard {
  return {
    name: "session-2026-11-18-quiet-otter",
    status: world.status,
    epoch: Date.UTC(2026, 10, 18, 14, 0, 0),
    at: world.isEmpty ? 0 : at,
    host: "worker-host",
    node: "v22.11.0",
    supervisor: 4711,
    program: 4700,
    slots: world.workers,
    kernelThreads: 8,
    thresholds: { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95 },
    nodeThreshold: 0.95,
    memoryPlan: [
      ["Expected heap memory usage", `536.9 MB (${world.workers} execution slots × max block size)`],
      ["Max block size", "134.2 MB"],
      ["Object store", "2.0 GiB of the machine's 8.0 GiB"],
      ["Memory limit", `1.0 GiB for each of ${world.workers} workers`],
    ],
    directory: "/tmp/logs",
    leftOut: { events: 0, jobs: 0, happened: 0 },
  };
}

function workerCard(world: World, id: number, at: number): WorkerCard {
  const kinds = kindsOf(at, id);
  const share = kinds.process / LIMIT;
  const colour = share > 0.8 ? "red" : kinds.managed / LIMIT > 0.5 ? "orange" : "blue";
  const operator = world.operators[id % world.operators.length] ?? "map";
  return {
    id,
    kind: "worker",
    pid: 5000 + id,
    phase: colour === "red" ? "paused" : "busy",
    pressure: colour === "red" ? "paused" : colour === "orange" ? "spilling" : "normal",
    colour,
    limit: LIMIT,
    kinds,
    private: kinds.unmanaged + kinds.recent,
    children: id % 3,
    startedAt: 120 + id,
    restarts: id % 4 === 2 ? 1 : 0,
    descriptors: 34 + id,
    task: { id: `t${id}`, operator, startedAt: at - 800 },
  };
}

function totalsCard(world: World, at: number): TotalsCard {
  const all = Array.from({ length: world.workers }, (_none, id) => kindsOf(at, id));
  const sum = (kind: keyof Kinds) => all.reduce((total, kinds) => total + kinds[kind], 0);
  const kinds = {
    process: sum("process"),
    managed: sum("managed"),
    unmanaged: sum("unmanaged"),
    recent: sum("recent"),
    spilled: sum("spilled"),
  };
  return {
    kinds,
    workerLimit: LIMIT,
    program: 96 * MIB,
    supervisor: 58 * MIB,
    node: { used: 6_400 * MIB, total: 8_192 * MIB },
    store: {
      capacity: 2048 * MIB,
      resident: 1400 * MIB,
      onDisk: sum("spilled"),
      files: sum("spilled") / 2,
      blocks: 212,
    },
    spilledBytes: 3_140 * MIB,
    restoredBytes: 1_210 * MIB,
    tasks: { running: world.workers, waiting: 35, done: world.tasks },
    memoryDeaths: 1,
    otherDeaths: 1,
    oomRetries: 1,
  };
}

function formedOf(world: World): number {
  return Math.ceil(world.tasks / world.operators.length);
}

function planOf(world: World, index: number): OperatorCard["plan"] {
  return {
    id: index,
    name: world.operators[index] ?? "map",
    kind: "tasks",
    place: index === 3 ? "wide" : "worker",
    inputs: index === 0 ? [] : [index - 1],
    tasks: formedOf(world),
    recipe: {
      input: index === 0 ? "splits" : index === 3 ? "all" : "operators",
      flowsFrom: index === 0 ? [] : [index - 1],
      functions: [world.operators[index] ?? "map"],
      sql: [`SELECT ${world.text} FROM input WHERE price > 3`],
      files: index === 0 ? 12 : 0,
      request: { cpu: 1, gpu: 0, memory: 256 * MIB },
      concurrency: 4,
      batchSize: index === 2 ? 1024 : null,
      maxRetries: 3,
      maxOomRetries: 3,
      skipped: { files: 3, rowGroups: 40, rows: 0, columns: 12 },
      learned: null,
      appetite: null,
      sink: "blocks",
    },
  };
}

export function operatorCard(world: World, index: number, at: number): OperatorCard {
  return { ...operatorNow(world, index, at), plan: planOf(world, index) };
}

function operatorNow(world: World, index: number, at: number): OperatorNow {
  const share = Math.max(0, Math.min(1, (at / NOW) * 1.2 - index * 0.15));
  const formed = formedOf(world);
  const done = Math.floor(formed * share);
  const ended = share >= 1;
  return {
    job: "1",
    id: index,
    ended,
    share,
    tasks: formed,
    formed,
    waiting: ended ? 0 : 6,
    running: ended || share === 0 ? 0 : 2,
    done,
    failed: 0,
    retries: index === 1 ? 1 : 0,
    oomRetries: index === 2 ? 1 : 0,
    rowsIn: done * 10_000,
    rowsOut: done * 9_000,
    bytesOut: done * 4 * MIB,
    rowsPerSecond: ended ? 0 : 41_200,
    bytesPerSecond: ended ? 0 : 18.4 * MIB,
    startedAt: share === 0 ? null : 300 + index * 900,
    endedAt: ended ? 60_000 + index * 1000 : null,
    wall: done * (300 + index * 170),
    cpu: done * (250 + index * 150),
    longest: 1900 + index * 300,
    errored: 0,
    peakMemory: (120 + index * 60) * MIB,
    addedMemory: (100 + index * 60) * MIB,
    appetite: index === 0 ? null : (110 + index * 66) * MIB,
    memoryNow: ended ? 0 : (80 + index * 20) * MIB,
    queuedBlocks: ended ? 0 : 4 + index,
    queuedBytes: ended ? 0 : (16 + index * 9) * MIB,
    spilledBlocks: index === 2 ? 11 : 0,
    spilledBytes: index === 2 ? 60 * MIB : 0,
    restoredBytes: index === 2 ? 16 * MIB : 0,
    heldBy: index === 1 && !ended ? "what takes its rows" : null,
    heldSince: at - 2300,
    heldBack: index < 3 ? { "what takes its rows": 4200 - index * 900 } : {},
  };
}

function jobCard(world: World): JobCard {
  return {
    id: "1",
    startedAt: 200,
    endedAt: world.status === "running" ? null : NOW,
    phase: "running",
    outcome: world.status === "running" ? null : "finished",
    error: null,
    rows: null,
    rowsDelivered: 184_000,
    operators: world.operators.map((_name, index) => index),
  };
}

function seriesAt(world: World, times: readonly number[]): Record<string, unknown> {
  const totals = times.map((at) => totalsCard(world, at));
  const of = (pick: (card: TotalsCard) => number) => totals.map(pick);
  return {
    "series/memory": {
      t: times,
      values: {
        process: of(({ kinds }) => kinds.process),
        managed: of(({ kinds }) => kinds.managed),
        unmanaged: of(({ kinds }) => kinds.unmanaged),
        recent: of(({ kinds }) => kinds.recent),
        spilled: of(({ kinds }) => kinds.spilled),
        program: of(({ program }) => program),
        supervisor: of(({ supervisor }) => supervisor),
        shared: of(({ kinds }) => kinds.managed),
        workers: of(({ kinds }) => kinds.unmanaged + kinds.recent),
      },
    },
    "series/node": {
      t: times,
      values: { used: times.map((at) => (5200 + 1500 * wave(at, 2)) * MIB), total: of(() => 8192 * MIB) },
    },
    "series/store": {
      t: times,
      values: { resident: of(({ kinds }) => kinds.managed), onDisk: of(({ kinds }) => kinds.spilled) },
    },
    "series/flow": {
      t: times,
      values: {
        rows: times.map((at) => 40_000 * wave(at, 1)),
        bytes: times.map((at) => 90 * MIB * wave(at, 1)),
        spilled: times.map((at) => 60 * MIB * wave(at, 4)),
        restored: times.map((at) => 30 * MIB * wave(at, 6)),
      },
    },
    "series/deaths": {
      t: times,
      values: {
        memoryDeaths: times.map((time) => Number(time >= 38_000)),
        otherDeaths: times.map((time) => Number(time >= 51_000)),
        oomRetries: times.map((time) => Number(time >= 38_100)),
      },
    },
    "series/operators": {
      t: times,
      values: Object.fromEntries(
        world.operators
          .slice(0, 6)
          .map((_name, index) => [`1/${index}`, times.map((at) => 300 * MIB * wave(at, index))]),
      ),
    },
  };
}

export function happenedLines(world: World, at: number, many: number): readonly Happened[] {
  const severities = ["info", "warning", "error"] as const;
  return Array.from({ length: many }, (_none, index) => ({
    at: at - many + index,
    type: ["spilled", "pressure", "workerGone"][index % 3] ?? "",
    severity: severities[index % 3] ?? "info",
    text: index % 3 === 1 ? world.text : `Spilled ${100 + index} MiB, 133 objects, write throughput 441 MiB/s.`,
    worker: index % world.workers,
    operator: world.operators[0] ?? null,
  }));
}

function cards(world: World, at: number): Record<string, unknown> {
  const entries: Record<string, unknown> = {
    session: sessionCard(world, at),
    totals: totalsCard(world, at),
    "job/1": jobCard(world),
  };
  for (let id = 0; id < world.workers; id++) entries[`worker/${id}`] = workerCard(world, id, at);
  for (let index = 0; index < world.operators.length; index++)
    entries[`operator/1/${index}`] = operatorNow(world, index, at);
  return entries;
}

function plans(world: World): Record<string, unknown> {
  return Object.fromEntries(world.operators.map((_name, index) => [`plan/1/${index}`, planOf(world, index)]));
}

export function snapshotOf(world: World): Snapshot {
  if (world.isEmpty) return { entries: { session: sessionCard(world, 0) } };
  const times = Array.from({ length: 300 }, (_none, index) => NOW - 75_000 + index * 250);
  return {
    entries: {
      ...plans(world),
      ...cards(world, NOW),
      ...seriesAt(world, times),
      happened: happenedLines(world, NOW, world.lines),
    },
  };
}

/** What has changed `passed` milliseconds after the snapshot. */
export function patchAfter(world: World, passed: number, lines: number): Patch {
  const at = NOW + passed;
  return { set: cards(world, at), append: { ...seriesAt(world, [at]), happened: happenedLines(world, at, lines) } };
}
