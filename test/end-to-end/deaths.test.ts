import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FunctionError, OutOfMemoryError, WorkerDiedError } from "spillway";
import { describe, expect, test } from "vitest";
import { isRunning } from "../support/processes.ts";
import { leftovers, sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("deaths");

async function failure(run: Promise<unknown>): Promise<Error> {
  try {
    await run;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("it did not fail");
}

describe("an error that nobody caught", () => {
  test("[D4] of a timer or a promise is a FunctionError that names the operator and the line; the session goes on", async () => {
    const s = sessions.open({ workers: 1 });
    const error = await failure(
      s
        .range(3)
        .map((row) => ({ id: row.id }))
        .map(async function forgetful(row) {
          setTimeout(() => {
            throw new TypeError("in a timer");
          }, 1);
          await new Promise((resolve) => setTimeout(resolve, 5000));
          return row;
        })
        .takeAll(),
    );
    expect(error).toBeInstanceOf(FunctionError);
    expect(error).toMatchObject({ operator: "map or map(forgetful)", errorName: "TypeError" });
    expect(error.message).toMatch(
      /^map or map\(forgetful\): an error was not caught \(in a timer.*\): TypeError: in a timer\n +at .*deaths\.test\.ts:\d+:\d+/,
    );
    expect(
      await s
        .range(3)
        .map((row) => row)
        .count(),
    ).toBe(3);
    await s.close();
  });
});

describe("a worker that dies unasked", () => {
  test("[M2] by process.exit: exit type, code, counts, memory, causes and remedies, log, in one message", async () => {
    const s = sessions.open({ workers: 1 });
    const error = await failure(
      s
        .range(10)
        .map(
          (row) => {
            if (row.id === 7) {
              process.stderr.write("the function has had enough\n");
              process.exit(3);
            }
            return row;
          },
          { maxRetries: 1 },
        )
        .takeAll(),
    );
    expect(error).toBeInstanceOf(WorkerDiedError);
    expect(error).toMatchObject({ reason: "exit", exitCode: 3, signal: null, exitType: "INTENDED_USER_EXIT" });
    const lines = error.message.split("\n");
    expect(lines[0]).toMatch(
      /^.*map.*: the worker process \d+ exited with code 3 while it ran a task, after 2 attempts\.$/,
    );
    expect(lines[1]).toMatch(
      /^Exit type: INTENDED_USER_EXIT; exit code: 3; signal: none; kills of the system's OOM killer while it lived: \d+ in its control group, \d+ on the machine\.$/,
    );
    expect(lines[2]).toMatch(/^Its memory: ./);
    expect(lines[3]).toMatch(/^Node \S+: .* of .* in use \([\d.]+ %\), and the monitor acts above 95\.0 %\.$/);
    expect(lines[4]).toMatch(/^Likely causes: process\.exit in the function/);
    expect(lines[5]).toMatch(/^What to do: throw an error instead.*maxRetries/);
    expect(lines[6]).toMatch(/^Its log \(.*worker-\d+\.log\) ends with:$/);
    expect(lines.at(-1)).toBe("the function has had enough");
    const log = /\((.*worker-\d+\.log)\)/.exec(error.message)?.[1] ?? "";
    await s.close();
    const lineOf = (line: string): { readonly type: string } => JSON.parse(line);
    const events = readFileSync(join(log, "../events.jsonl"), "utf8").trimEnd().split("\n").map(lineOf);
    expect(events.filter(({ type }) => type === "workerDied")).toMatchObject([
      { reason: "exit", exitCode: 3 },
      { reason: "exit", exitCode: 3 },
    ]);
  });

  test.each([
    ["SIGSEGV", "native", "crashed in native code (SIGSEGV)"],
    ["SIGABRT", "native", "crashed in native code (SIGABRT)"],
    ["SIGKILL", "signal", "was ended by SIGKILL, which the session had not sent,"],
    ["SIGTERM", "signal", "was ended by SIGTERM, which the session had not sent,"],
  ] as const)("[D4] by %s is %s", async (signal, cause, words) => {
    const s = sessions.open({ workers: 1 });
    const ds = s.range(10).map(
      (row) => {
        process.kill(process.pid, signal);
        return row;
      },
      { maxRetries: 0 },
    );
    const error = await failure(ds.takeAll());
    expect(error).toMatchObject({ reason: cause, exitCode: null, signal, exitType: "UNEXPECTED_SYSTEM_EXIT" });
    expect(error.message).toContain(words);
    await s.close();
  });

  test("[D4] at the V8 heap limit is out of memory, with its own words", async () => {
    // Without the ladder, whose look might come before the heap is full.
    const memory = { pause: false, terminate: false } as const;
    const s = sessions.open({ workers: 1, memoryLimit: "256 MiB", maxOomRetries: 0, worker: { memory } });
    const ds = s.range(10).map((row) => {
      const kept: unknown[] = [];
      for (;;) kept.push({ row, filler: [row.id, row.id] });
    });
    const error = await failure(ds.takeAll());
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error.message).toMatch(/reached its heap limit of \d+ MiB/);
    expect(error.message).toMatch(/Exit type: NODE_OUT_OF_MEMORY; exit code: none; signal: SIGABRT/);
    expect(error.message).toContain("JavaScript heap out of memory");
    await s.close();
  });
});

test("[A15] a session inside a killed worker's child process cleans up after itself", async () => {
  const earlier = new Set(sessionNames(sessions.stateDirectory));
  const s = sessions.open({ workers: 1 });
  const script = join(sessions.directory, "inner.mjs");
  writeFileSync(
    script,
    `import { session } from ${JSON.stringify(import.meta.resolve("spillway"))};
     const s = session({ workers: 1, localDirectory: ${JSON.stringify(sessions.localDirectory)}, progress: false });
     console.log("rows", (await s.range(3).takeAll()).length);
     setInterval(() => {}, 1000);`,
  );
  const ds = s.range(1).map(
    async (row) => {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      process.kill(process.pid, "SIGKILL");
      return row;
    },
    { maxRetries: 0 },
  );
  expect(await failure(ds.takeAll())).toMatchObject({ reason: "signal", signal: "SIGKILL" });
  // Its own, and the one that ran in it: both have their logs.
  const both = sessionNames(sessions.stateDirectory).filter((name) => !earlier.has(name));
  expect(both).toHaveLength(2);
  await s.close();
  expect(await leftovers(sessions.localDirectory, both)).toEqual([]);
});

test("[D4] a process that a function has started ends with its worker, also after the job", async () => {
  const s = sessions.open({ workers: 1 });
  const marker = join(sessions.directory, "pids");
  writeFileSync(marker, "");
  await s
    .range(1)
    .map((row) => {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const { appendFileSync } = process.getBuiltinModule("node:fs");
      for (const detached of [false, true]) {
        const child = spawn("sleep", ["1000"], { stdio: "ignore", detached });
        child.unref();
        appendFileSync(marker, `${child.pid}\n`);
      }
      return row;
    })
    .takeAll();
  const pids = readFileSync(marker, "utf8").trim().split("\n").map(Number);
  expect(pids.length).toBe(2);
  expect(pids.every(isRunning)).toBe(true);
  await s.close();
  // Killed, and about to be gone.
  await expect.poll(() => pids.some(isRunning)).toBe(false);
});

test("[D4] a process without a trace of its worker ends with it, and another's does not", async () => {
  const s = sessions.open({ workers: 2 });
  const marker = join(sessions.directory, "hidden");
  writeFileSync(marker, "");
  const pids = () => readFileSync(marker, "utf8").trim().split("\n").map(Number);
  // Its parent ends at once: it comes to the supervisor while both workers are alive.
  await s
    .range(1)
    .map((row) => {
      const { execFileSync } = process.getBuiltinModule("node:child_process");
      const { appendFileSync } = process.getBuiltinModule("node:fs");
      const script = "setsid /bin/sleep 1000 >/dev/null 2>&1 & echo $!";
      appendFileSync(marker, execFileSync("/bin/sh", ["-c", script], { env: { PATH: "/usr/bin:/bin" } }));
      return row;
    })
    .takeAll();
  // The supervisor has looked.
  await s.memory();
  const dying = s.range(1).map(
    (row) => {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const { appendFileSync } = process.getBuiltinModule("node:fs");
      const child = spawn("/bin/sleep", ["1000"], { stdio: "ignore", detached: true, env: {} });
      child.unref();
      appendFileSync(marker, `${child.pid}\n`);
      process.kill(process.pid, "SIGKILL");
      return row;
    },
    { maxRetries: 0 },
  );
  await failure(dying.takeAll());
  const [daemon = 0, child = 0] = pids();
  await expect.poll(() => isRunning(child)).toBe(false);
  expect(isRunning(daemon)).toBe(true);
  await s.close();
  expect(isRunning(daemon)).toBe(false);
});
