/**
 * Sessions whose data is many times their store: what leaves memory, where it goes, what is told, and that all of it
 * comes back.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statfsSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { type Dataset, type Session, SpillError } from "spillway";
import { describe, expect, onTestFinished, test } from "vitest";
import { mountTmpfs, withMounts } from "../support/mounts.ts";
import {
  checkRows,
  KIB,
  type KilobyteRow,
  kilobyteRows,
  rowsOf,
  SMALL,
  spilledBytesIn,
  spillFilesIn,
  spillingSessions,
  until,
} from "../support/spilling-sessions.ts";

const sessions = spillingSessions("spilling");
const { open, stderr } = sessions;
const STORE = 256 * KIB;
/** Resolves when what is in the store has not changed for a while. */
async function standingStill(s: Session): Promise<void> {
  let before = -1;
  let same = 0;
  await until(async () => {
    const { used } = await s.resources();
    same = used.objectStoreMemory === before ? same + 1 : 0;
    before = used.objectStoreMemory;
    return same === 8;
  });
}

function tmpfs(name: string, size: number): string {
  const at = join(sessions.directory, name);
  const unmount = mountTmpfs(at, size);
  onTestFinished(unmount);
  return at;
}

describe("data many times the store", () => {
  test("[O10] each stage has the bytes of its own blocks that went to disk and came back", async () => {
    const s = open({ ...SMALL, workers: 2, objectStoreMemory: 2 * STORE });
    const ds = kilobyteRows(s, 4000).sort("id", { descending: true });
    const kept = await ds.materialize();
    const { operators, spilledBytes, restoredBytes } = ds.stats();
    expect(spilledBytes).toBeGreaterThan(2 * STORE);
    const sum = (of: "spilledBytes" | "restoredBytes") => operators.reduce((all, operator) => all + operator[of], 0);
    // Blocks of the program: the captured function.
    const ofProgram = 64 * KIB;
    for (const [all, one] of [
      [spilledBytes, sum("spilledBytes")],
      [restoredBytes, sum("restoredBytes")],
    ]) {
      expect(one).toBeLessThanOrEqual(all ?? 0);
      expect(one).toBeGreaterThan((all ?? 0) - ofProgram);
    }
    expect(operators.at(-1)?.spilledBytes).toBeGreaterThan(STORE);
    expect(String(ds.stats())).toMatch(/^ {2}Spilled: [\d.]+ [KM]iB; restored: [\d.]+ ([KM]i)?B$/m);
    kept.dispose();
    await s.close();
  });

  test("[D1] flows through every operator, comes back right, and the store is never above its capacity", async () => {
    const s = open({ ...SMALL, workers: 2, objectStoreMemory: 2 * STORE });
    const count = 4000;
    const made = kilobyteRows(s, count);
    const kept = await made.materialize();
    expect(made.stats().spilledBytes).toBeGreaterThan(7 * STORE);
    const runs: [string, Dataset<KilobyteRow>, number][] = [
      ["read", kept, count],
      ["read again", kept, count],
      ["map", kept.map((row) => ({ id: row.id, text: row.text })), count],
      ["filter", kept.filter((row) => row.id % 2 === 0), count / 2],
      ["flatMap", kept.flatMap((row) => (row.id % 4 === 0 ? [row] : [])), count / 4],
      ["mapBatches", kept.mapBatches((batch) => batch, { batchSize: 64 }), count],
      [
        "several",
        kept
          .filter((row) => row.id % 2 === 1)
          .map((row) => row, { numCpus: 0.5 })
          .map((row) => row),
        count / 2,
      ],
      ["union", kept.filter((row) => row.id < 3000).union(kept.filter((row) => row.id >= 3000)), count],
      ["limit", kept.limit(2500), 2500],
    ];
    for (const [name, ds, expected] of runs) {
      checkRows(await rowsOf(ds), expected);
      const { job } = ds.stats();
      expect(job?.peakStoreBytes, name).toBeLessThanOrEqual(2 * STORE);
    }
    const out = join(sessions.directory, "written");
    await kept.writeParquet(out);
    checkRows(await rowsOf(s.readParquet<KilobyteRow>(join(out, "*.parquet"))), count);
    await s.close();
  });

  test("[D1] rows that the program has are many times the store, too", async () => {
    const s = open(SMALL);
    const items = Array.from({ length: 1500 }, (_, id) => ({ id, text: `${id}:`.padEnd(1000, String(id % 10)) }));
    const ds = s.fromItems(items);
    checkRows(await rowsOf(ds), 1500);
    checkRows(await rowsOf(ds.map((row) => row)), 1500);
    expect(ds.stats().job?.peakStoreBytes).toBeLessThanOrEqual(STORE);
    expect(ds.stats().restoredBytes).toBeGreaterThan(STORE);
    await s.close();
  });

  test("[R11] a slow reader behind a fast pipeline holds it back, and nothing is spilled", async () => {
    const s = open({ ...SMALL, workers: 2, objectStoreMemory: 2 * STORE });
    const ds = kilobyteRows(s, 3000).map((row) => row, { numCpus: 0.5 });
    const rows: KilobyteRow[] = [];
    for await (const row of ds.iterRows()) {
      // Every now and then the store is as full as it gets before the reader goes on.
      if (rows.length % 500 === 0) await standingStill(s);
      rows.push(row);
    }
    checkRows(rows, 3000);
    expect(ds.stats().operators.reduce((sum, { bytesOut }) => sum + bytesOut.total, 0)).toBeGreaterThan(5 * STORE);
    expect(ds.stats().spilledBytes).toBe(0);
    expect(spillFilesIn(sessions.localDirectory)).toEqual([]);
    await s.close();
  });

  test("[D1] blocks that did not change are written once, however often they leave", async () => {
    const s = open(SMALL);
    const made = kilobyteRows(s, 1000);
    const kept = await made.materialize();
    checkRows(await rowsOf(kept), 1000);
    const { spilledBytes } = kept.stats();
    const { files, bytes } = { files: spillFilesIn(sessions.localDirectory).length, bytes: kept.byteLength };
    expect(made.stats().spilledBytes + spilledBytes).toBe(bytes);
    checkRows(await rowsOf(kept), 1000);
    expect(kept.stats().spilledBytes).toBe(0);
    expect(kept.stats().restoredBytes).toBeGreaterThan(STORE);
    expect(spillFilesIn(sessions.localDirectory).length).toBe(files);
    await s.close();
  });

  test("[D1] two jobs at once share the store and do not mix", async () => {
    const s = open({ ...SMALL, workers: 2, objectStoreMemory: 2 * STORE });
    const [a, b] = await Promise.all([kilobyteRows(s, 1500).materialize(), kilobyteRows(s, 1200).materialize()]);
    const [one, other] = await Promise.all([rowsOf(a.map((row) => row)), rowsOf(b.map((row) => row))]);
    checkRows(one, 1500);
    checkRows(other, 1200);
    await s.close();
  });

  test("[D1] an iterator left half way does not stop another job, and can go on later", async () => {
    const s = open(SMALL);
    const left = kilobyteRows(s, 1000).iterRows()[Symbol.asyncIterator]();
    const rows: KilobyteRow[] = [];
    for (let i = 0; i < 10; i++) rows.push((await left.next()).value);
    const kept = await kilobyteRows(s, 1000).materialize();
    checkRows(await rowsOf(kept), 1000);
    expect(spillFilesIn(sessions.localDirectory).length).toBeGreaterThan(0);
    kept.dispose();
    for (let next = await left.next(); next.done !== true; next = await left.next()) rows.push(next.value);
    checkRows(rows, 1000);
    await s.close();
  });
});

describe("what is told", () => {
  test("[D2] totals at the first MiB and whenever they have doubled, with process and host; the same in stats", async () => {
    const s = open(SMALL);
    const made = kilobyteRows(s, 4096);
    const kept = await made.materialize();
    checkRows(await rowsOf(kept), 4096);
    const blocks = kept.numBlocks;
    const line =
      /^spillway: (Spilled|Restored) (\d+) MiB, (\d+) objects, (write|read) throughput \d+ MiB\/s\. \(supervisor (\d+) on (.+)\)$/;
    const said = stderr.lines.filter((text) => /Spilled|Restored/.test(text)).map((text) => line.exec(text));
    expect(said.every((match) => match !== null && match[6] === hostname())).toBe(true);
    for (const [verb, way, bytes] of [
      ["Spilled", "write", made.stats().spilledBytes + kept.stats().spilledBytes],
      ["Restored", "read", kept.stats().restoredBytes],
    ] as const) {
      const lines = said.filter((match) => match?.[1] === verb);
      expect(lines.every((match) => match?.[4] === way)).toBe(true);
      const objects = lines.map((match) => Number(match?.[3]));
      const firstMiB = 2 ** 20 / (kept.byteLength / blocks);
      expect(objects[0]).toBeGreaterThanOrEqual(Math.floor(firstMiB));
      expect(objects[0]).toBeLessThanOrEqual(Math.ceil(firstMiB) + 4);
      for (const [i, count] of objects.entries()) {
        if (i > 0) expect(count).toBeGreaterThanOrEqual(2 * (objects[i - 1] ?? 0) - 1);
      }
      // Blocks are alike: bytes double when objects do.
      const total = bytes / (kept.byteLength / blocks);
      expect(Math.ceil(total / 2)).toBeLessThanOrEqual(objects.at(-1) ?? 0);
      expect(lines.length).toBeGreaterThanOrEqual(3);
    }
    const { spilledBytes, restoredBytes } = kept.stats();
    expect(restoredBytes).toBe(kept.byteLength);
    expect(spilledBytes).toBeGreaterThan(0);
    expect(kept.stats().toString()).toMatch(/Spilled [\d.]+ [KM]iB, restored [4-6]\.\d MiB$/);
    await s.close();
  });

  test("[D2] nothing is said where nothing is spilled", async () => {
    const s = open({ workers: 1 });
    const ds = kilobyteRows(s, 100);
    checkRows(await rowsOf(ds), 100);
    expect(stderr.lines).toEqual([]);
    expect(ds.stats().toString()).not.toMatch(/spilled|restored/i);
    await s.close();
  });
});

describe("directories and disks", () => {
  test("[D3] several directories take files in turn, and [K4] all are gone afterwards", async () => {
    const local = ["one", "two", "three"].map((name) => join(sessions.directory, `in-turn-${name}`));
    mkdirSync(local[0] ?? "");
    const s = open({ ...SMALL, localDirectory: local });
    const kept = await kilobyteRows(s, 1000).materialize();
    const counts = local.map((directory) => spillFilesIn(directory).length);
    expect(Math.min(...counts)).toBeGreaterThan(5);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    checkRows(await rowsOf(kept), 1000);
    await s.close();
    // Those that were made go, too.
    expect(local.map(existsSync)).toEqual([true, false, false]);
    expect(spillFilesIn(sessions.directory)).toEqual([]);
  });

  test("[D3] a session that uses one of its directories as its own leaves its files there alone", async () => {
    const local = ["first", "second"].map((name) => join(sessions.directory, `shared-${name}`));
    const s = open({ ...SMALL, localDirectory: local });
    const kept = await kilobyteRows(s, 600).materialize();
    const [, second = ""] = local;
    const files = spillFilesIn(second);
    expect(files.length).toBeGreaterThan(0);
    // Old enough to be taken for something that nobody owns.
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(dirname(dirname(files[0] ?? "")), longAgo, longAgo);
    const other = open({ ...SMALL, localDirectory: second });
    expect(
      await other
        .range(10)
        .map((row) => row)
        .count(),
    ).toBe(10);
    await other.close();
    expect(spillFilesIn(second)).toEqual(files);
    checkRows(await rowsOf(kept), 600);
  });

  test("[D3] maxSpill holds to the byte: a job that fits it is done, one that does not ends with a SpillError", async () => {
    const measure = open(SMALL);
    const made = kilobyteRows(measure, 600);
    const kept = await made.materialize();
    const needed = made.stats().spilledBytes;
    const block = kept.byteLength / kept.numBlocks;
    expect(spilledBytesIn(sessions.localDirectory)).toBe(needed);
    await measure.close();

    const enough = open({ ...SMALL, maxSpill: needed });
    expect((await kilobyteRows(enough, 600).materialize()).byteLength).toBe(kept.byteLength);
    expect(spilledBytesIn(sessions.localDirectory)).toBeLessThanOrEqual(needed);
    await enough.close();

    const s = open({ ...SMALL, maxSpill: needed - 1 });
    const small = await kilobyteRows(s, 40).materialize();
    const error = await kilobyteRows(s, 600)
      .materialize()
      .then(
        () => null,
        (reason: unknown) => reason,
      );
    if (!(error instanceof SpillError)) throw error ?? new Error("It worked.");
    expect(error.maxSpill).toBe(needed - 1);
    expect(error.spilled).toBeLessThan(needed);
    expect(error.spilled + 2 * block).toBeGreaterThan(needed);
    expect(error.directories.map(({ path }) => path.startsWith(sessions.localDirectory))).toEqual([true]);
    // No block was lost, and the session goes on.
    checkRows(await rowsOf(small), 40);
    checkRows(await rowsOf(kilobyteRows(s, 600)), 600);
    await s.close();
  });

  withMounts.test("[D3] on a full disk work waits, and goes on when there is space again", async () => {
    const disk = tmpfs("full", 2048 * KIB);
    const s = open({ ...SMALL, localDirectory: disk });
    const small = await kilobyteRows(s, 40).materialize();
    const filler = join(disk, "filler");
    fill(disk, filler);
    const made = kilobyteRows(s, 1000).materialize();
    await until(() => stderr.lines.some((line) => line.includes("Work waits for the disk: ")));
    rmSync(filler);
    checkRows(await rowsOf(await made), 1000);
    checkRows(await rowsOf(small), 40);
    await s.close();
    expect(spilledBytesIn(disk)).toBe(0);
  });

  withMounts.test("[D3] a disk that stays full ends the job: directory, quota and free bytes are named", async () => {
    const disk = tmpfs("stays-full", 1024 * KIB);
    const s = open({ ...SMALL, localDirectory: disk, maxSpill: "1 GiB" });
    const small = await kilobyteRows(s, 40).materialize();
    fill(disk, join(disk, "filler"));
    const error = await kilobyteRows(s, 1000)
      .materialize()
      .then(
        () => null,
        (reason: unknown) => reason,
      );
    if (!(error instanceof SpillError)) throw error ?? new Error("It worked.");
    const [directory] = error.directories;
    expect(directory?.path.startsWith(disk)).toBe(true);
    expect(directory?.free).toBeLessThan(16 * KIB);
    expect(error.maxSpill).toBe(2 ** 30);
    expect(error.message).toContain(directory?.path ?? "");
    expect(error.message).toMatch(/ free\).*maxSpill is 1\.0 GiB/);
    checkRows(await rowsOf(small), 40);
    await s.close();
  });

  /** Leaves less than a block. */
  function fill(disk: string, file: string): void {
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(file, new Uint8Array(Math.max(0, bavail - 1) * bsize));
  }

  test("[K4] localDirectory says where; `spillway info` prints it", async () => {
    const local = join(sessions.directory, "said");
    const s = open({ ...SMALL, localDirectory: local });
    const kept = await kilobyteRows(s, 500).materialize();
    expect(spillFilesIn(local).length).toBeGreaterThan(0);
    expect(spillFilesIn(sessions.localDirectory)).toEqual([]);
    checkRows(await rowsOf(kept), 500);
    await s.close();
    expect(existsSync(local)).toBe(false);
    const cli = join(import.meta.dirname, "../../dist/cli/main.js");
    const told = execFileSync(process.execPath, [cli, "info"], { env: { ...process.env, TMPDIR: sessions.directory } });
    expect(String(told)).toMatch(new RegExp(`^spilling +to ${sessions.directory} \\(localDirectory\\)`, "m"));
  });
});
