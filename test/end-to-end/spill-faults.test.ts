/** Disks and processes that fail while blocks are on disk: never a wrong row, never a hang, nothing left behind. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as timePasses } from "node:timers/promises";
import { type Session, SessionClosedError, type SessionOptions, SpillDamagedError, SpillError } from "spillway";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { mountTmpfs, remount, withMounts } from "../support/mounts.ts";
import { leftovers, processes, sessionNames, supervisorPid, testSessions, workerPids } from "../support/sessions.ts";
import {
  captureStderr,
  checkRows,
  KIB,
  type KilobyteRow,
  kilobyteRows,
  SMALL,
  spillFilesIn,
  until,
} from "../support/spilling-sessions.ts";

const sessions = testSessions("spill-faults");
let round = 0;
let local: string;
let stderr: ReturnType<typeof captureStderr>;

beforeEach(() => {
  round += 1;
  local = join(sessions.directory, `local-${round}`);
  stderr = captureStderr();
});
afterEach(() => stderr.end());

function open(options: SessionOptions = {}): Session {
  const s = sessions.open({ ...SMALL, localDirectory: local, ...options });
  onTestFinished(() => s.close());
  return s;
}

function lastSession(): string {
  return basename(readlinkSync(join(sessions.stateDirectory, "latest")));
}

type Damage = (files: readonly string[]) => void;

function each(damage: (path: string) => void): Damage {
  return (files) => {
    for (const path of files) {
      try {
        damage(path);
      } catch (error) {
        // Nobody needed it any more, and it was removed since it was listed.
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      }
    }
  };
}

const damages: readonly [string, SpillDamagedError["reason"], Damage][] = [
  ["deleted", "missing", each((path) => rmSync(path))],
  ["cut", "truncated", each((path) => truncateSync(path, 100))],
  ["changed by one bit", "checksum", each(flip)],
  ["gone with their directory", "missing", ([path = ""]) => clearAway(dirname(path))],
  ["gone with the local directory", "missing", () => clearAway(local)],
];

/**
 * As often as it takes: a session that writes there at this moment leaves a file in a directory that was just emptied.
 */
function clearAway(path: string): void {
  for (let tries = 0; existsSync(path); tries++) {
    try {
      rmSync(path, { recursive: true });
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Iterators that are left half way and fill the store, until the blocks that wait in them are on disk. */
async function paused(s: Session): Promise<{ rest(): Promise<KilobyteRow[]> }[]> {
  const left = [];
  for (let i = 0; i < 6; i++) {
    const rows: KilobyteRow[] = [];
    const iterator = kilobyteRows(s, 150, 2).iterRows()[Symbol.asyncIterator]();
    for (let row = 0; row < 3; row++) rows.push((await iterator.next()).value);
    left.push({
      async rest() {
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) rows.push(next.value);
        return rows;
      },
    });
  }
  const other = await kilobyteRows(s, 300).materialize();
  other.dispose();
  await s.resources();
  return left;
}

/** Spill files, when none is being written and those that are not needed any more are gone. */
async function filesThatStay(): Promise<readonly string[]> {
  let files: readonly string[] = [];
  let same = 0;
  await until(() => {
    const now = spillFilesIn(local);
    same = now.length === files.length ? same + 1 : 0;
    files = now;
    return same === 10;
  });
  return files;
}

describe("spill files that are", () => {
  test.each(damages)("[D3] %s: blocks whose inputs still exist are made again", async (_, __, damage) => {
    const s = open();
    const left = await paused(s);
    const files = await filesThatStay();
    expect(files.length).toBeGreaterThan(0);
    damage(files);
    for (const one of left) checkRows(await one.rest(), 150);
    await s.close();
  });

  test.each(damages)(
    "[D3] %s: what cannot be made again is an error that names the file",
    async (_, reason, damage) => {
      const s = open();
      const kept = await kilobyteRows(s, 500).materialize();
      const files = await filesThatStay();
      damage(files);
      const rows: KilobyteRow[] = [];
      const error = await (async () => {
        for await (const row of kept.iterRows()) rows.push(row);
      })().catch((cause: unknown) => cause);
      if (!(error instanceof SpillDamagedError)) throw error;
      expect(error.reason).toBe(reason);
      expect(files).toContain(error.file);
      expect(error.message).toContain(error.file);
      // What came was right, and the session goes on: new blocks find their place.
      checkRows(rows, rows.length);
      kept.dispose();
      const again = await kilobyteRows(s, 500).materialize();
      checkRows(await again.takeAll(), 500);
      await s.close();
    },
  );

  test("[D3] changed, compressed: a flipped bit is found, too", async () => {
    const s = open({ spillCompression: "lz4" });
    const kept = await kilobyteRows(s, 500).materialize();
    for (const path of await filesThatStay()) flip(path);
    await expect(kept.takeAll()).rejects.toBeInstanceOf(SpillDamagedError);
    await s.close();
  });
});

withMounts.describe("a disk that", () => {
  const waits = () => until(() => stderr.lines.some((line) => line.includes("Work waits for the disk: ")));

  function disk(size: number): void {
    onTestFinished(mountTmpfs(local, size));
  }

  test("[D3] becomes read-only: what is there is read, what is new waits until it can be written", async () => {
    disk(4096 * KIB);
    const s = open();
    const kept = await kilobyteRows(s, 300).materialize();
    checkRows(await kept.takeAll(), 300);
    remount(local, "ro");
    checkRows(await kept.takeAll(), 300);
    const more = kilobyteRows(s, 600).materialize();
    await waits();
    remount(local, "rw");
    checkRows(await (await more).takeAll(), 600);
    checkRows(await kept.takeAll(), 300);
    await s.close();
  });

  test("[D3] stays read-only: the job ends with a SpillError, the session does not", async () => {
    disk(4096 * KIB);
    const s = open();
    const kept = await kilobyteRows(s, 300).materialize();
    remount(local, "ro");
    const error = await kilobyteRows(s, 600)
      .materialize()
      .catch((cause: unknown) => cause);
    remount(local, "rw");
    if (!(error instanceof SpillError)) throw error;
    expect(error.directories[0]?.reason).toMatch(/EROFS/);
    checkRows(await kept.takeAll(), 300);
    await s.close();
  });

  test("[D3] refuses new files (ENOSPC) although it has bytes free: nothing is lost, and work goes on when it takes them", async () => {
    disk(4096 * KIB);
    const s = open();
    const kept = await kilobyteRows(s, 300).materialize();
    // There are bytes free, as the disk says, and still nothing can be made.
    execFileSync("mount", ["-o", "remount,nr_inodes=64", local]);
    const more = kilobyteRows(s, 600).materialize();
    await waits();
    execFileSync("mount", ["-o", "remount,nr_inodes=100000", local]);
    checkRows(await (await more).takeAll(), 600);
    checkRows(await kept.takeAll(), 300);
    await s.close();
    expect(spillFilesIn(local)).toEqual([]);
  });

  test("[D3] fails is passed over while another one works", async () => {
    disk(64 * KIB);
    const other = join(sessions.directory, `other-${round}`);
    const s = open({ localDirectory: [local, other] });
    const kept = await kilobyteRows(s, 500).materialize();
    checkRows(await kept.takeAll(), 500);
    expect(spillFilesIn(other).length).toBeGreaterThan(spillFilesIn(local).length);
    await s.close();
  });
});

describe("a process that is killed at any moment", () => {
  const seeds = Array.from({ length: Number(process.env.SPILLWAY_TEST_SEEDS ?? 12) }, (_, i) => i + 1);
  const ROWS = 500;
  const LATEST_MS = 500;

  /** The same for the same seed, between 0 and 1. */
  function chance(seed: number): number {
    const mixed = Math.imul(seed ^ 0x9e3779b9, 2654435761);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  const jobs: readonly [string, (s: Session, seed: number) => Promise<KilobyteRow[]>][] = [
    ["materialised and read", async (s) => (await kilobyteRows(s, ROWS).materialize()).map((row) => row).takeAll()],
    [
      "a pipeline",
      (s) =>
        kilobyteRows(s, ROWS)
          .map((row) => row, { numCpus: 0.5 })
          .takeAll(),
    ],
    [
      "a write",
      async (s, seed) => {
        const out = join(sessions.directory, `written-${seed}`);
        const kept = await kilobyteRows(s, ROWS).materialize();
        await kept.map((row) => row).writeParquet(out);
        return s.readParquet<KilobyteRow>(join(out, "*.parquet")).takeAll();
      },
    ],
  ];
  const targets = ["a worker", "the supervisor", "another worker", "the program"] as const;

  test.each(seeds)("[R1] seed %i: every row, or a typed error, and nothing left", async (seed) => {
    const target = targets[seed % targets.length];
    const [, job] = jobs[Math.floor(seed / targets.length) % jobs.length] ?? jobs[0] ?? [];
    if (job === undefined) throw new Error("no job");
    const moment = chance(seed) * LATEST_MS;
    const directories = ["a", "b"].map((name) => join(sessions.directory, `kill-${seed}-${name}`));
    for (const directory of directories) mkdirSync(directory);
    const options = { ...SMALL, workers: 2, objectStoreMemory: 512 * KIB, localDirectory: directories };
    if (target === "the program") await killProgram(options, moment, seed);
    else {
      const s = open(options);
      await s.resources();
      const name = lastSession();
      const result = job(s, seed).catch((error: unknown) => error);
      await timePasses(moment);
      const killed = performance.now();
      if (target === "the supervisor") {
        process.kill(supervisorPid(name), "SIGKILL");
        const outcome = await result;
        // It may have been done before.
        if (!Array.isArray(outcome)) expect(outcome).toBeInstanceOf(SessionClosedError);
        expect(performance.now() - killed).toBeLessThan(10_000);
      } else {
        const pids = workerPids(name);
        const pid = pids[target === "a worker" ? 0 : pids.length - 1];
        if (pid !== undefined) process.kill(pid, "SIGKILL");
        const rows = await result;
        if (!Array.isArray(rows)) throw rows;
        checkRows(rows, ROWS);
      }
      await s.close();
    }
    for (const directory of directories) {
      expect(await leftovers(directory, sessionNames(sessions.stateDirectory))).toEqual([]);
      rmSync(directory, { recursive: true });
    }
  });

  /** The program, and every other time its supervisor with it; then a session as it would be started next. */
  async function killProgram(options: SessionOptions, moment: number, seed: number): Promise<void> {
    const script = join(sessions.directory, `program-${seed}.mjs`);
    writeFileSync(
      script,
      `import { session } from ${JSON.stringify(import.meta.resolve("spillway"))};
       const s = session({ ...${JSON.stringify(options)}, progress: false });
       await s.resources();
       console.log("started");
       for (;;) {
         const kept = await s.range(${ROWS}, { overrideNumBlocks: 8 }).map((row) => ({ id: row.id, text: "x".repeat(1000) })).materialize();
         await kept.map((row) => row).takeAll();
       }`,
    );
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "ignore"] });
    await once(child.stdout, "data");
    const name = lastSession();
    const supervisor = supervisorPid(name);
    await timePasses(moment);
    if (Math.floor(seed / targets.length) % 2 === 0) process.kill(supervisor, "SIGKILL");
    child.kill("SIGKILL");
    await once(child, "close");
    const next = open(options);
    expect(
      await next
        .range(10)
        .map((row) => row)
        .count(),
    ).toBe(10);
    await next.close();
    // A supervisor that lives ends by itself, in its own time.
    await expect.poll(() => processes([name])).toEqual([]);
  }
});
