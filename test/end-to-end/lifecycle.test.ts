import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { NondeterministicFunctionError, type Session, SessionClosedError, StoreError } from "spillway";
import { describe, expect, onTestFinished, test } from "vitest";
import { isRunning } from "../support/processes.ts";
import { leftovers, processes, sessionNames, supervisorPid, testSessions, workerPids } from "../support/sessions.ts";

const sessions = testSessions("lifecycle");

/** The name of the session that was started last. */
function lastSession(): string {
  return basename(readlinkSync(join(sessions.stateDirectory, "latest")));
}

interface ScriptRun {
  readonly pid: number;
  readonly ended: Promise<{ code: number | null; output: string }>;
  /** Resolves when the script has printed this. */
  printed(text: string): Promise<void>;
}

function runScript(name: string, source: string): ScriptRun {
  const path = join(sessions.directory, `${name}.mjs`);
  writeFileSync(path, source.replaceAll('"spillway"', JSON.stringify(import.meta.resolve("spillway"))));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, TMPDIR: sessions.localDirectory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const waiting: { text: string; resolve(): void }[] = [];
  const hear = (piece: Buffer) => {
    output += piece;
    for (const one of waiting) if (output.includes(one.text)) one.resolve();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, output }))),
    printed: (text) =>
      new Promise((resolve) => {
        if (output.includes(text)) resolve();
        else waiting.push({ text, resolve });
      }),
  };
}

describe("a worker that dies", () => {
  test("[R1] its task is replayed exactly: the result is the same, nothing twice", async () => {
    const s = sessions.open({ workers: 2, targetMaxBlockSize: "64 KiB", objectStoreMemory: "8 MiB" });
    const marker = join(sessions.directory, "killed-once");
    const seen: number[] = [];
    const ds = s.range(200_000, { overrideNumBlocks: 4 }).map((row) => {
      const fs = process.getBuiltinModule("node:fs");
      // One worker takes itself down in the middle of its first task, after it has handed over blocks.
      if (row.id % 50_000 === 40_000 && !fs.existsSync(marker)) {
        fs.writeFileSync(marker, "");
        process.kill(process.pid, "SIGKILL");
      }
      return { id: row.id, text: `row ${row.id}` };
    });
    for await (const row of ds.iterRows()) seen.push(row.id);
    expect(existsSync(marker)).toBe(true);
    expect(seen.length).toBe(200_000);
    expect(seen.sort((a, b) => a - b).every((id, i) => id === i)).toBe(true);
    expect(ds.stats().operators.some((operator) => operator.retries > 0)).toBe(true);
    await s.close();
  });

  test("[R1] a function that is not deterministic is found out", async () => {
    const s = sessions.open({ workers: 1, targetMaxBlockSize: "64 KiB", objectStoreMemory: "8 MiB" });
    const marker = join(sessions.directory, "killed-random");
    const ds = s.range(100_000, { overrideNumBlocks: 1 }).map((row) => {
      const fs = process.getBuiltinModule("node:fs");
      if (row.id === 80_000 && !fs.existsSync(marker)) {
        fs.writeFileSync(marker, "");
        process.kill(process.pid, "SIGKILL");
      }
      return { id: row.id, chance: Math.random() };
    });
    await expect(ds.takeAll()).rejects.toBeInstanceOf(NondeterministicFunctionError);
    await s.close();
  });

  test("[A15] killed from outside while idle, it is replaced", async () => {
    const s = sessions.open({ workers: 1 });
    expect(await s.range(10).count()).toBe(10);
    expect(
      (
        await s
          .range(10)
          .map((row) => row)
          .takeAll()
      ).length,
    ).toBe(10);
    const [pid] = workerPids(lastSession());
    if (pid === undefined) throw new Error("no worker was found");
    process.kill(pid, "SIGKILL");
    expect(
      (
        await s
          .range(10)
          .map((row) => row)
          .takeAll()
      ).length,
    ).toBe(10);
    expect(workerPids(lastSession())).not.toContain(pid);
    await s.close();
  });
});

describe("a session whose files are cleared away while it runs", () => {
  async function afterClearing(s: Session, paths: () => readonly string[]): Promise<number> {
    const ds = s.range(10).map((row) => row);
    await ds.takeAll();
    for (const path of paths()) rmSync(path, { recursive: true });
    for (const pid of workerPids(lastSession())) process.kill(pid, "SIGKILL");
    return (await ds.takeAll()).length;
  }

  test("[A15] replaces workers that were killed, and leaves nothing behind", async () => {
    const localDirectory = join(sessions.directory, "cleared");
    mkdirSync(localDirectory);
    const s = sessions.open({ workers: 2, localDirectory });
    expect(await afterClearing(s, () => [localDirectory])).toBe(10);
    await s.close();
    expect(existsSync(localDirectory)).toBe(false);
  });

  test("[A15] says so where the store's own file is gone", async () => {
    const s = sessions.open({ workers: 2 });
    const job = afterClearing(s, () => [`/dev/shm/spillway-${lastSession()}`]);
    await expect(job).rejects.toBeInstanceOf(StoreError);
    await expect(job).rejects.toThrow(/The store's file .* was removed while the session ran.*Start a new session/);
    await s.close();
  });
});

describe("the end of a session", () => {
  test("[A15] close leaves no process, no shared memory, no file", async () => {
    const s = sessions.open();
    const kept = await s
      .range(100_000)
      .map((row) => row)
      .materialize();
    expect(await kept.count()).toBe(100_000);
    expect(processes([lastSession()]).length).toBeGreaterThanOrEqual(2);
    await s.close();
    expect(await leftovers(sessions.localDirectory, [lastSession()])).toEqual([]);
    await expect(s.range(3).takeAll()).rejects.toThrow(/closed/);
    // Also what could be known without asking anybody.
    await expect(s.range(3).count()).rejects.toBeInstanceOf(SessionClosedError);
    await expect(kept.count()).rejects.toBeInstanceOf(SessionClosedError);
  });

  test("[A15] nothing stays in the local directories either, whichever of two sessions ends last", async () => {
    const localDirectory = ["first", "second"].map((name) => join(sessions.directory, name));
    for (const path of localDirectory) mkdirSync(path);
    const open = () => sessions.open({ workers: 1, localDirectory, objectStoreMemory: "1 MiB" });
    const [one, other] = [open(), open()];
    // More than the store holds: both directories are used.
    for (const s of [one, other]) await s.range(500_000).materialize();
    const users = localDirectory.map((path) => readdirSync(path));
    expect(users).toEqual([[expect.stringMatching(/^spillway-\d+$/)], [expect.stringMatching(/^spillway-\d+$/)]]);
    await one.close();
    expect(localDirectory.map((path) => readdirSync(path))).toEqual(users);
    expect(await other.range(3).count()).toBe(3);
    await other.close();
    expect(localDirectory.map((path) => readdirSync(path))).toEqual([[], []]);
  });

  test("[A15] close comes back when the processes are gone, not before", async () => {
    const s = sessions.open();
    await s.range(3).takeAll();
    const name = lastSession();
    await s.close();
    expect(processes([name])).toEqual([]);
  });

  test("[A15] whoever calls close waits until it is done, not only the first", async () => {
    const s = sessions.open();
    await s.range(3).takeAll();
    const name = lastSession();
    const first = s.close();
    await s.close();
    expect(processes([name])).toEqual([]);
    await first;
  });

  test("[A15] after SIGKILL of the supervisor, close leaves nothing either", async () => {
    const s = sessions.open();
    await s
      .range(3)
      .map((row) => row)
      .takeAll();
    const name = lastSession();
    process.kill(supervisorPid(name), "SIGKILL");
    await expect(
      s
        .range(1e9)
        .map((row) => row)
        .takeAll(),
    ).rejects.toThrow(/supervisor process ended/);
    await s.close();
    expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
  });

  test("[A1] items are put into blocks that fit a small store", async () => {
    const s = sessions.open({ workers: 1, objectStoreMemory: "4 MiB" });
    const rows = Array.from({ length: 6000 }, (_, i) => ({ i, text: "x".repeat(1000) }));
    let n = 0;
    await expect(
      (async () => {
        for await (const row of s
          .fromItems(rows.slice(0, 2500))
          .map((row) => ({ i: row.i }))
          .iterRows())
          n += row.i >= 0 ? 1 : 0;
      })(),
    ).resolves.toBeUndefined();
    expect(n).toBe(2500);
    await s.close();
  });

  test("[A15] logs of the session stay, with a link latest, of ten sessions at most", async () => {
    for (let i = 0; i < 3; i++) {
      const s = sessions.open({ workers: 1 });
      await s
        .range(3)
        .map((row) => row)
        .takeAll();
      await s.close();
    }
    const name = lastSession();
    expect(readlinkSync(join(sessions.stateDirectory, "latest"))).toContain(name);
    expect(readdirSync(join(sessions.stateDirectory, name)).some((file) => file.includes("worker"))).toBe(true);
    expect(sessionNames(sessions.stateDirectory).length).toBeLessThanOrEqual(10);
  });

  test("[A1] the default session does not keep the program alive", async () => {
    const run = runScript(
      "default-session",
      `import { range } from "spillway";
       const rows = await range(1000).map((row) => ({ id: row.id * 2 })).takeAll();
       console.log("rows", rows.length);`,
    );
    const { code, output } = await run.ended;
    expect(output).toContain("rows 1000");
    expect(code).toBe(0);
    expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
  });

  test.each([
    ["iterRows", "await ds.iterRows().next();"],
    ["iterBatches", "await ds.iterBatches().next();"],
    ["iterRows of a pipeline", "await ds.window({ blocks: 1 }).repeat().iterRows().next();"],
    ["a loop that was left", "for await (const row of ds.iterRows()) if (row.id === 10) break;"],
    ["a stream", "for await (const row of ds.toNodeStream().iterator({ destroyOnReturn: false })) break;"],
    ["iterRows with a signal and a timeout", "await ds.iterRows({ signal, timeout: '1h' }).next();"],
  ])("[A1] a program that stops in the middle of %s ends, and cleans up", async (name, use) => {
    const run = runScript(
      `unfinished ${name}`,
      `import { range } from "spillway";
       const { signal } = new AbortController();
       const ds = range(1e9, { overrideNumBlocks: 100 }).map((row) => ({ id: row.id }));
       ${use}
       console.log("main is done");`,
    );
    expect(await run.ended).toEqual({ code: 0, output: "main is done\n" });
    expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
  });

  test("[A1] a program that waits for a call is alive until it is answered", async () => {
    const run = runScript(
      "waiting",
      `import { range } from "spillway";
       const slow = range(4).map(async (row) => {
         await new Promise((resolve) => setTimeout(resolve, 300));
         return { id: row.id };
       });
       console.log("count", await slow.count());
       for await (const row of slow.iterRows()) if (row.id === 3) console.log("row", row.id);
       console.log("held", (await slow.materialize()).numBlocks > 0);`,
    );
    expect(await run.ended).toEqual({ code: 0, output: "count 4\nrow 3\nheld true\n" });
  });

  test("[A1] configure works before the default session starts, and is an error after", async () => {
    const run = runScript(
      "configure",
      `import { configure, range } from "spillway";
       configure({ workers: 1 });
       console.log("rows", await range(10).map((row) => row).count());
       try { configure({ workers: 2 }); } catch (error) { console.log(error.name, error.message); }`,
    );
    const { output } = await run.ended;
    expect(output).toContain("rows 10");
    expect(output).toContain("OptionError");
  });

  const busy = `import { range } from "spillway";
    const ds = range(1e9, { overrideNumBlocks: 1000 }).map((row) => ({ id: row.id }));
    let n = 0;
    for await (const row of ds.iterRows()) if (n++ === 1000) console.log("running");`;

  test.each(["SIGINT", "SIGKILL"] as const)("[A15] %s of the program leaves nothing behind", async (signal) => {
    const run = runScript(`ended-by-${signal}`, busy);
    await run.printed("running");
    process.kill(run.pid, signal);
    await run.ended;
    expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
  });

  test("[A15] what SIGKILL of program and supervisor leaves is swept by the next start", async () => {
    const run = runScript("both-killed", busy);
    await run.printed("running");
    const name = lastSession();
    process.kill(supervisorPid(name), "SIGKILL");
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    const next = sessions.open();
    await next.range(3).takeAll();
    await next.close();
    expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
  });

  test("[A15] so is what it had staged beside its output, and nothing else there", async () => {
    const around = join(sessions.directory, "half-written");
    mkdirSync(join(around, ".spillway-cache"), { recursive: true });
    const run = runScript(
      "killed-while-writing",
      `import { range } from "spillway";
       const slow = async (row) => { await new Promise((resolve) => setTimeout(resolve, row.id < 1000 ? 0 : 1e6)); return row; };
       await range(2000, { overrideNumBlocks: 2 }).map(slow).writeCsv(${JSON.stringify(join(around, "out"))});`,
    );
    onTestFinished(() => {
      if (isRunning(run.pid)) process.kill(run.pid, "SIGKILL");
    });
    const staged = () => readdirSync(around).filter((file) => /^\.spillway-[0-9a-f]{8}$/.test(file));
    await expect.poll(staged).toHaveLength(1);
    const name = lastSession();
    process.kill(supervisorPid(name), "SIGKILL");
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    expect(staged()).toHaveLength(1);
    const next = sessions.open();
    await next.range(3).takeAll();
    await next.close();
    expect(readdirSync(around)).toEqual([".spillway-cache"]);
    expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
  });

  test("[A15] so is the old data that an overwrite had just replaced, and not what others put there", async () => {
    const around = join(sessions.directory, "half-replaced");
    const out = join(around, "out");
    mkdirSync(out, { recursive: true });
    for (let i = 0; i < 4000; i++)
      writeFileSync(join(out, `part-${String(i).padStart(5, "0")}-0123abcd-000.csv`), "a\n");
    const { ino } = statSync(out);
    const run = runScript(
      "killed-while-replacing",
      `import { range } from "spillway";
       await range(3).takeAll();
       setInterval(() => {}, 1e6);
       process.once("SIGUSR2", () => range(3).writeCsv(${JSON.stringify(out)}, { mode: "overwrite" }));
       console.log("ready");`,
    );
    onTestFinished(() => {
      if (isRunning(run.pid)) process.kill(run.pid, "SIGKILL");
    });
    await run.printed("ready");
    const name = lastSession();
    const supervisor = supervisorPid(name);
    // Between two files that it removes: without waiting, which could take longer than all of them.
    process.kill(run.pid, "SIGUSR2");
    while (statSync(out).ino === ino);
    process.kill(supervisor, "SIGKILL");
    process.kill(run.pid, "SIGKILL");
    await run.ended;
    const [old = ""] = readdirSync(around).filter((file) => file !== "out");
    expect(readdirSync(join(around, old)).length).toBeGreaterThan(0);
    const next = sessions.open();
    await next.range(3).takeAll();
    expect(readdirSync(around)).toEqual(["out"]);
    expect(await next.readCsv(out).count()).toBe(3);
    await next.close();
    expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
  });
});

describe("a small /dev/shm", () => {
  test("[R4] the store is a file in the session's directory, and the user is told", async () => {
    // More than it can ever have free, whoever else uses it meanwhile.
    const { blocks, bsize } = statfsSync("/dev/shm");
    const run = runScript(
      "small-shm",
      `import { session } from "spillway";
       const s = session({ workers: 1, objectStoreMemory: ${blocks * bsize + 2 ** 30} });
       console.log("rows", await s.range(100000).map((row) => ({ id: row.id, text: "row " + row.id })).count());
       console.log((await s.range(3).map((row) => row).takeAll()).length === 3 ? "read" : "lost");
       await s.close();`,
    );
    const { output } = await run.ended;
    expect(output).toContain("rows 100000");
    expect(output).toContain("read");
    expect(output).toMatch(/\/dev\/shm has .* free, less than the store's .*: the store is a file/);
    expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
  });
});

describe("leaving early", () => {
  test("[A10] a reader that stops cancels the work and frees everything at once", async () => {
    const s = sessions.open({ workers: 2 });
    let n = 0;
    for await (const row of s
      .range(1e9, { overrideNumBlocks: 1000 })
      .map((row) => ({ id: row.id }))
      .iterRows()) {
      if (row.id >= 0 && ++n === 500) break;
    }
    expect(n).toBe(500);
    // Whatever the job held is free again: a store that was full would not let this one through.
    expect(
      await s
        .range(100_000)
        .map((row) => row)
        .count(),
    ).toBe(100_000);
    await s.close();
  });

  test("[R11] several jobs at the same time do not mix", async () => {
    const s = sessions.open({ workers: 2 });
    const jobs = Array.from({ length: 6 }, (_, k) =>
      s
        .range(5000)
        .map((row) => ({ v: row.id * 10 + k }))
        .takeAll(),
    );
    const results = await Promise.all(jobs);
    for (const [k, rows] of results.entries()) {
      expect(rows.length).toBe(5000);
      expect(rows.every((row) => row.v % 10 === k)).toBe(true);
    }
    await s.close();
  });

  test("[R4] kept rows and batches stay as they were: they are copies", async () => {
    const s = sessions.open({ workers: 2, targetMaxBlockSize: "64 KiB", objectStoreMemory: "2 MiB" });
    const kept: { id: Float64Array; text: string[] }[] = [];
    const ds = s.range(100_000).map((row) => ({ id: row.id, text: `row number ${row.id}` }));
    for await (const batch of ds.iterBatches({ batchSize: 512 })) kept.push(batch as (typeof kept)[number]);
    const ids = new Set<number>();
    for (const batch of kept) {
      for (const [i, id] of batch.id.entries()) {
        ids.add(id);
        if (batch.text[i] !== `row number ${id}`) throw new Error(`row ${id} changed to ${batch.text[i]}`);
      }
    }
    expect(ids.size).toBe(100_000);
    await s.close();
    mkdirSync(join(sessions.directory, "done"), { recursive: true });
  });
});
