/** Profiles of real workers: peaks and leaks, collected buffers, operators, kills, on demand. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { profileHeap } from "spillway";
import { expect, test } from "vitest";
import { listProfiles, type ProfileFile } from "../../src/profile/index.ts";
import { findSession, profileWorker } from "../../src/sessions/index.ts";
import { testSessions } from "../support/sessions.ts";
import { bytesWhere, lineOf, profilesIn, readProfile, viewOf } from "./reading.ts";

const MIB = 2 ** 20;
const sessions = testSessions("profile-runs");

/** The newest session's profile of that name. */
function profileNamed(name: string): ProfileFile {
  const path = profilesIn(sessions.stateDirectory).find((one) => basename(one).startsWith(name));
  if (path === undefined) throw new Error(`there is no profile ${name}`);
  return readProfile(path);
}

function buffersOf(profile: ProfileFile, view: string, fn: string): number {
  const ofFunction = (node: ProfileFile["head"]): number =>
    node.callFrame.functionName === fn
      ? bytesWhere(node, ({ kind }) => kind === "buffer")
      : node.children.reduce((sum, child) => sum + ofFunction(child), 0);
  return ofFunction(viewOf(profile, view));
}

/** Where the newest session writes it. */
const fileOf = (label: string) =>
  join(sessions.stateDirectory, "latest", "profiles", `function-${label}.worker-1.heapprofile`);

/** Runs in workers: waits, without a turn of the event loop, until the file tells of so many bytes at a maker. */
function waitFor(file: string, maker: string, bytes: number): void {
  const wanted = `"functionName":"${maker} (buffers)"`;
  const isThere = () =>
    readFileSync(file, "utf8")
      .split('{"callFrame":{')
      .some((node) => node.startsWith(wanted) && node.includes(`"selfSize":${bytes},`));
  for (const until = Date.now() + 60_000; Date.now() < until; ) if (existsSync(file) && isThere()) return;
  throw new Error(`${file} does not tell of ${bytes} bytes`);
}

/** Holds 64 MiB until the file tells of them, and keeps 8. */
function work(kept: Uint8Array[], file: string): void {
  const held = Array.from({ length: 64 }, function makeBuffers() {
    return new Uint8Array(2 ** 20).fill(1);
  });
  waitFor(file, "new Uint8Array", 64 * 2 ** 20);
  kept.push(...held.slice(0, 8));
}

test("[M8] the peak has what was held for a while, the view of what leaked only what stays", async () => {
  const s = sessions.open({ workers: 1 });
  const kept: Uint8Array[] = [];
  const file = fileOf("peak");
  const ds = s.range(1).map((row) => {
    const profile = profileHeap("peak");
    work(kept, file);
    profile.stop();
    profile.stop();
    return { ...row, kept: kept.length };
  });
  expect((await ds.takeAll()).map((row) => row.kept)).toEqual([8]);
  const profile = profileNamed("function-peak");
  expect(profile.spillway).toMatchObject({ title: "peak", kind: "function", worker: 1, complete: true });
  expect(buffersOf(profile, "peak", "makeBuffers")).toBe(64 * MIB);
  expect(buffersOf(profile, "leaked", "makeBuffers")).toBe(8 * MIB);
  await s.close();
});

test("[M8] buffers that were collected are taken off, also in the middle of a function", async () => {
  const s = sessions.open({ workers: 1 });
  const ds = s.range(1).map((row) => {
    let made = 0;
    profileHeap("collected", () => {
      const until = Date.now() + 1500;
      for (; Date.now() < until; made++) new Uint8Array(2 ** 20).fill(1);
    });
    return { ...row, made };
  });
  const [row] = await ds.takeAll();
  const profile = profileNamed("function-collected");
  const peak = bytesWhere(profile.head, ({ kind, callFrame }) => kind === "buffer" && callFrame.url !== "");
  expect(row?.made).toBeGreaterThan(100);
  expect(peak).toBeLessThan(profile.spillway.peak * 1.1);
  expect(peak).toBeLessThan(((row?.made ?? 0) * MIB) / 2);
  await s.close();
});

test("[M8] the originals are in place before and after, and what is profiled gives the same values", async () => {
  const s = sessions.open({ workers: 1 });
  const ds = s.range(1).map(async (row) => {
    const own = Uint8Array;
    const result = await profileHeap("patched", async () => {
      await new Promise(setImmediate);
      return Uint8Array !== own && new Uint8Array(1) instanceof own;
    });
    await new Promise(setImmediate);
    return { ...row, result, restored: Uint8Array === own && new own(1).constructor === own };
  });
  expect(await ds.takeAll()).toEqual([{ id: 0, result: true, restored: true }]);
  await s.close();
});

test("[M8] a profile of a moment names lines, too", async () => {
  const s = sessions.open({ workers: 1 });
  const kept: Buffer[] = [];
  const ds = s.range(1).map((row) => {
    profileHeap("moment", function fillOnce() {
      kept.push(Buffer.alloc(2 ** 20, 1)); // the line of the moment
    });
    return { ...row, kept: kept.length };
  });
  expect((await ds.takeAll()).length).toBe(1);
  const here = fileURLToPath(import.meta.url);
  const line = lineOf(here, "the line of the moment");
  const isHere = ({ callFrame }: ProfileFile["head"]) =>
    callFrame.url === pathToFileURL(here).href && callFrame.lineNumber === line;
  expect(bytesWhere(profileNamed("function-moment").head, isHere)).toBe(MIB);
  await s.close();
});

test("[M8] an error in profiled code is the user's own, and the profile is written", async () => {
  const s = sessions.open({ workers: 1 });
  const fails = s.range(1).map((row) =>
    profileHeap("fails", () => {
      if (row.id === 0) throw new RangeError("no such row");
      return row;
    }),
  );
  await expect(fails.takeAll()).rejects.toThrow("RangeError: no such row");
  await expect
    .poll(() => profilesIn(sessions.stateDirectory).map((path) => basename(path)))
    .toContain("function-fails.worker-1.heapprofile");
  await s.close();
});

test("[M8] profile: true makes one file for an operator and a worker", async () => {
  const s = sessions.open({ workers: 2 });
  function fillBatch(batch: { readonly id: Float64Array | number[] }) {
    const held = Buffer.alloc(32 * 2 ** 20, 1);
    return { id: batch.id, first: Array.from(batch.id, () => held[0] ?? 0) };
  }
  const ds = s.range(4000, { overrideNumBlocks: 8 } as never).mapBatches(fillBatch as never, { profile: true });
  expect(await ds.count()).toBe(4000);
  const { directory } = findSession("latest", sessions.stateDirectory);
  const areComplete = () => {
    const listed = listProfiles(directory);
    return listed.length > 0 && listed.every(({ header }) => header?.complete);
  };
  await expect.poll(areComplete).toBe(true);
  const listed = listProfiles(directory);
  expect(listed.length).toBeGreaterThanOrEqual(1);
  expect(new Set(listed.map(({ worker }) => worker)).size).toBe(listed.length);
  for (const { operator, header } of listed) {
    expect(operator).toBe("mapBatches(fillBatch)");
    expect(header?.kind).toBe("operator");
  }
  expect(buffersOf(profileNamed("operator-"), "peak", "fillBatch")).toBeGreaterThanOrEqual(32 * MIB);
  await s.close();
  expect(() => s.range(1).map((row) => row, { profile: "yes" as never })).toThrow(
    'map: profile is "yes"; it must be true or false.',
  );
});

test("[M8] a worker that is killed leaves a profile of the time before", async () => {
  const s = sessions.open({ workers: 1 });
  const file = fileOf("killed");
  const ds = s.range(1).map(
    (row) => {
      profileHeap("killed");
      const held = Array.from({ length: 64 }, function holdUntilKilled() {
        return Buffer.alloc(2 ** 20, 1);
      });
      waitFor(file, "Buffer.alloc", 64 * 2 ** 20);
      process.kill(process.pid, "SIGKILL");
      return { ...row, held: held.length };
    },
    { maxRetries: 0 },
  );
  await expect(ds.takeAll()).rejects.toThrow("SIGKILL");
  const profile = readProfile(file);
  expect(profile.spillway.complete).toBe(false);
  expect(buffersOf(profile, "peak", "holdUntilKilled")).toBe(64 * MIB);
  await s.close();
});

test("[M8] a worker in a function that does not come back is profiled on demand, again and again", async () => {
  const s = sessions.open({ workers: 1 });
  const [begun, stop] = [join(sessions.directory, "begun"), join(sessions.directory, "stop")];
  const job = s
    .range(1)
    .map((row) => {
      writeFileSync(begun, "");
      let last: Uint8Array[] = [];
      let turns = 0;
      for (; !existsSync(stop); turns++) {
        last = Array.from({ length: 16 }, function turnOver() {
          return new Uint8Array(2 ** 20).fill(1);
        });
        const until = Date.now() + 50;
        while (Date.now() < until);
      }
      return { ...row, turns: turns + last.length };
    })
    .takeAll();
  try {
    await expect.poll(() => existsSync(begun)).toBe(true);
    const session = findSession("latest", sessions.stateDirectory);
    await expect(profileWorker(session, 7, 1)).rejects.toThrow(
      "profile: there is no worker 7. This session has workers 1.",
    );
    await expect(profileWorker(session, 1, 0)).rejects.toThrow("0 s is out of range");
    const both = await Promise.allSettled([profileWorker(session, 1, 1), profileWorker(session, 1, 1)]);
    const refused = both.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    expect(refused).toEqual([
      expect.stringContaining("worker 1 is being profiled already; ask again when that is done"),
    ]);
    const first = both.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    for (const path of [...first, await profileWorker(session, 1, 1)]) {
      const profile = readProfile(path);
      expect(profile.spillway).toMatchObject({ kind: "demand", worker: 1, complete: true });
      // At the peak a part of the last turn's buffers is there, too.
      expect(buffersOf(profile, "peak", "turnOver")).toBeGreaterThanOrEqual(8 * MIB);
    }
  } finally {
    writeFileSync(stop, "");
  }
  expect((await job).length).toBe(1);
  await s.close();
});

test("[M8] a worker between two tasks is profiled on demand", async () => {
  const s = sessions.open({ workers: 1 });
  expect(
    await s
      .range(1)
      .map((row) => row)
      .count(),
  ).toBe(1);
  const path = await profileWorker(findSession("latest", sessions.stateDirectory), 1, 0.3);
  expect(readProfile(path).spillway.title).toBe("worker 1");
  await s.close();
  await expect(profileWorker(findSession("latest", sessions.stateDirectory), 1, 1)).rejects.toThrow(
    "the session has ended",
  );
});

test("[M8] a worker that ends while it is profiled is told of", async () => {
  const s = sessions.open({ workers: 1 });
  await s
    .range(1)
    .map((row) => row)
    .count();
  const session = findSession("latest", sessions.stateDirectory);
  const asked = profileWorker(session, 1, 60);
  const refused = expect(asked).rejects.toThrow("worker 1: it ended before the profile was complete");
  await expect.poll(() => existsSync(join(session.directory, "profiles"))).toBe(true);
  await expect(s.run(() => process.kill(process.pid, "SIGKILL"))).rejects.toThrow();
  await refused;
  await s.close();
});

test("[M8] profileHeap only runs the code where there is no worker, and checks its arguments", () => {
  expect(profileHeap("here", () => 5)).toBe(5);
  profileHeap("here").stop();
  expect(() => profileHeap("")).toThrow("give the profile a name of 1 to 100 characters");
  expect(() => profileHeap("x", 5 as never)).toThrow("the second argument is number");
});
