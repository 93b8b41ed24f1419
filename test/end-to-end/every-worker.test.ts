/** Functions called in every worker, memory given back, and the allocator behind it: real workers, real memory. */
import { readFileSync } from "node:fs";
import { FunctionError, type Session, WorkerDiedError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("every-worker");
const MB = 1e6;

function privateBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;
}

async function pidsOf(s: Session): Promise<number[]> {
  return (await s.run(() => process.pid)).map(({ value }) => value);
}

describe("run", () => {
  const s = sessions.open();

  test("[K11] calls a function once in every worker, with arguments and what it captures, and returns typed values", async () => {
    const captured = new Map([["factor", 3]]);
    const answers = await s.run(
      (number: number, at: Date) => ({
        pid: process.pid,
        product: number * (captured.get("factor") ?? 0),
        at,
        big: 2n ** 70n,
        bytes: new Uint8Array([1, 2]),
      }),
      14,
      new Date(5),
    );
    expect(answers.map(({ worker }) => worker)).toEqual([1, 2]);
    expect(new Set(answers.map(({ value }) => value.pid)).size).toBe(2);
    for (const { value } of answers) {
      expect(value).toMatchObject({ product: 42, at: new Date(5), big: 2n ** 70n, bytes: new Uint8Array([1, 2]) });
      expect(value.pid).not.toBe(process.pid);
    }
  });

  test("[K11] awaits async functions, and undefined is an answer", async () => {
    const later = await s.run(async (text: string) => {
      await new Promise((resolve) => setImmediate(resolve));
      return text.toUpperCase();
    }, "done");
    expect(later.map(({ value }) => value)).toEqual(["DONE", "DONE"]);
    expect((await s.run(() => {})).map(({ value }) => value)).toEqual([undefined, undefined]);
  });

  test("[K11] answers while the workers are busy with tasks", async () => {
    const job = s
      .range(2, { overrideNumBlocks: 2 })
      .map(async (row) => {
        await new Promise((resolve) => Reflect.set(globalThis, "resume", resolve));
        return row;
      })
      .count();
    const areBusy = async () => (await s.run(() => Reflect.has(globalThis, "resume"))).every(({ value }) => value);
    while (!(await areBusy()));
    await s.run(() => Reflect.get(globalThis, "resume")());
    expect(await job).toBe(2);
  });

  test("[K11] a function that throws is an error that names the worker and the line", async () => {
    const failed = s.run(() => {
      throw new TypeError("not today");
    });
    await expect(failed).rejects.toBeInstanceOf(FunctionError);
    await expect(failed).rejects.toThrow(/^run: the function failed in worker 1: TypeError: not today\n.*every-worker/);
    await expect(failed).rejects.toThrow("(1 more of 2 workers failed as well.)");
  });

  test("[K11] what cannot be called or sent is refused with the reason", async () => {
    await expect(s.run(() => () => 1)).rejects.toThrow("what the function returned in worker 1 cannot be sent back");
    await expect(s.run("text" as never)).rejects.toThrow("run: give a function, not string.");
    await expect(s.run(class A {} as never)).rejects.toThrow("run: a class cannot be called");
    const much = Buffer.alloc(70 * 2 ** 20);
    await expect(s.run(() => much.length)).rejects.toThrow("the limit is 64.0 MiB");
  });

  test("[K11] a worker that ends meanwhile is an error; the next call finds the one that replaces it", async () => {
    const [victim = 0] = await pidsOf(s);
    const killed = s.run((pid: number) => {
      if (process.pid === pid) process.kill(pid, "SIGKILL");
      return new Promise((resolve) => setImmediate(resolve));
    }, victim);
    await expect(killed).rejects.toBeInstanceOf(WorkerDiedError);
    await expect(killed).rejects.toMatchObject({
      signal: "SIGKILL",
      reason: "signal",
      exitType: "UNEXPECTED_SYSTEM_EXIT",
    });
    await expect(killed).rejects.toThrow("run: worker 1 was ended by SIGKILL before it had answered.\nExit type: ");
    const pids = await pidsOf(s);
    expect(pids.length).toBe(2);
    expect(pids).not.toContain(victim);
  });

  test("[K11] waits for the one that takes the place of a worker that was sent away", async () => {
    const other = sessions.open({ workers: 2, memoryLimit: "400 MiB" });
    expect((await pidsOf(other)).length).toBe(2);
    // Replaces them one after another.
    await other.setMemoryLimit("500 MiB");
    expect((await pidsOf(other)).length).toBe(2);
    await other.close();
  });

  test("[K11] waits for all workers of a session that has just begun to start", async () => {
    const fresh = sessions.open({ workers: 3 });
    expect((await pidsOf(fresh)).length).toBe(3);
    await fresh.close();
  });
});

describe("trim", () => {
  test("[K11] 500 MB that a function allocated and freed leave the process", async () => {
    const s = sessions.open({ workers: 1, memoryLimit: "2 GiB" });
    const [pid = 0] = await pidsOf(s);
    const start = privateBytes(pid);
    // Small native buffers: a small one that is kept above them holds all of them in the C library's heap.
    await s.run(() => {
      const some: Buffer[] = [];
      for (let i = 0; i < 125_000; i++) some.push(Buffer.allocUnsafeSlow(4000).fill(1));
      Reflect.set(globalThis, "kept", { some, last: Buffer.allocUnsafeSlow(4000) });
    });
    const full = privateBytes(pid);
    expect(full - start).toBeGreaterThan(500 * MB);
    await s.run(() => {
      Reflect.get(globalThis, "kept").some = [];
    });
    const { returned, workers } = await s.trim();
    const after = privateBytes(pid);
    expect(full - after).toBeGreaterThan(480 * MB);
    expect(after - start).toBeLessThan(30 * MB);
    expect(returned).toBeGreaterThan(480 * MB);
    expect(workers).toEqual([
      { worker: 1, before: expect.any(Number), after: expect.any(Number), returned, skipped: [] },
    ]);
    await s.close();
  });

  test("[K11] what the kernel and finished jobs left behind is given back, in the wide kernel too", async () => {
    const s = sessions.open({ workers: 1 });
    const words = s.range(1_500_000).map((row) => ({ id: row.id, word: `word ${(row.id * 7919) % 1_500_000}` }));
    expect((await words.sort("word").take(1)).length).toBe(1);
    const { workers } = await s.trim();
    expect(workers.length).toBe(2);
    for (const { after, skipped } of workers) {
      expect(skipped).toEqual([]);
      expect(after).toBeLessThan(80 * MB);
    }
    expect(await words.count()).toBe(1_500_000);
    await s.close();
  });
});

describe("the environment of workers", () => {
  test("[K11] mallocTrimThreshold is set before they start, and workerEnv overrides it", async () => {
    const seen = async (options: Parameters<typeof sessions.open>[0]) => {
      const s = sessions.open({ workers: 1, ...options });
      const [answer] = await s.run(() => process.env.MALLOC_TRIM_THRESHOLD_ ?? null);
      await s.close();
      return answer?.value;
    };
    expect(await seen({})).toBe(null);
    expect(await seen({ mallocTrimThreshold: "1 MiB" })).toBe("1048576");
    expect(await seen({ mallocTrimThreshold: 65536, workerEnv: { MALLOC_TRIM_THRESHOLD_: "7" } })).toBe("7");
  });
});
