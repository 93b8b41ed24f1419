/** Worker data: made in every form, reached by functions, living as long as the worker. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FunctionError, OptionError, session, type WorkerDataOption, type WorkerDataPlace, workerData } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("worker-data");

/** Keeps at most so many values. */
class Bounded {
  readonly items = new Map<string, unknown>();
  constructor(readonly most: number) {}
  get(key: string) {
    return this.items.get(key);
  }
  set(key: string, value: unknown) {
    this.items.set(key, value);
    for (const first of this.items.keys()) if (this.items.size > this.most) this.items.delete(first);
  }
  has(key: string) {
    return this.items.has(key);
  }
  delete(key: string) {
    return this.items.delete(key);
  }
  keys() {
    return this.items.keys();
  }
}

/** The fast part in memory, the rest in files of the worker's own. */
class OnDisk {
  readonly fast = new Map<string, Buffer>();
  constructor(readonly directory: string) {}
  evict() {
    for (const [key, value] of this.fast) {
      writeFileSync(join(this.directory, key), value);
      this.fast.delete(key);
      return value.byteLength;
    }
    return -1;
  }
  get(key: string) {
    const path = join(this.directory, key);
    return this.fast.get(key) ?? (existsSync(path) ? readFileSync(path) : undefined);
  }
  set(key: string, value: Buffer) {
    this.fast.set(key, value);
  }
  has(key: string) {
    return this.get(key) !== undefined;
  }
  delete(key: string) {
    return this.fast.delete(key);
  }
  keys() {
    return [...this.fast.keys(), ...readdirSync(this.directory)];
  }
}

async function entries(data: WorkerDataOption): Promise<unknown[]> {
  const s = sessions.open({ workers: 1, data });
  try {
    const [found] = await s.run(() => {
      const data = workerData();
      return [data.constructor.name, ...[...data.keys()].map((key) => [key, data.get(key)])];
    });
    return found?.value ?? [];
  } finally {
    await s.close();
  }
}

test("[K14] data is a Map-like, a class, a factory, or one of these with arguments", async () => {
  expect(await entries(new Map([["a", 1]]))).toEqual(["Map", ["a", 1]]);
  expect(await entries(Map)).toEqual(["Map"]);
  expect(await entries(new Bounded(3))).toEqual(["Bounded"]);
  expect(await entries(async () => new Map([["made in", "the worker"]]))).toEqual(["Map", ["made in", "the worker"]]);
  expect(await entries([Bounded, 3])).toEqual(["Bounded"]);
  const filled = (key: string, value: number, { worker }: WorkerDataPlace) => new Map([[key, value + worker]]);
  expect(await entries([filled, "b", 41])).toEqual(["Map", ["b", 42]]);
  expect(await entries({ factory: filled, args: ["c", 1] })).toEqual(["Map", ["c", 2]]);
});

test("[K14] each worker has its own, and what functions put there stays from job to job", async () => {
  const s = sessions.open({ workers: 2, data: [Bounded, 1000] });
  const count = () =>
    s
      .range(100, { overrideNumBlocks: 10 })
      .map((row) => {
        const data = workerData<Bounded>();
        data.set(`${row.id}`, ((data.get(`${row.id}`) as number | undefined) ?? 0) + 1);
        return row;
      })
      .count();
  await count();
  await count();
  const kept = await s.run(() => [...workerData<Bounded>().items.values()] as number[]);
  expect(kept.length).toBe(2);
  expect(kept.flatMap(({ value }) => value).reduce((sum, times) => sum + times, 0)).toBe(200);
  await s.close();
});

test("[K14] a factory is told a directory of the worker's own, which ends with the session", async () => {
  const s = sessions.open({ workers: 1, data: ({ directory }: WorkerDataPlace) => new OnDisk(directory) });
  const [answer] = await s.run(() => {
    const data = workerData<OnDisk>();
    data.set("a", Buffer.alloc(1000, 7));
    const freed = [data.evict(), data.evict()];
    return { freed, back: data.get("a")?.length, directory: data.directory };
  });
  expect(answer?.value).toMatchObject({ freed: [1000, -1], back: 1000 });
  expect(existsSync(answer?.value.directory ?? "")).toBe(true);
  await s.close();
  expect(existsSync(answer?.value.directory ?? "")).toBe(false);
});

test("[K14] a factory that throws, or makes something else, fails jobs and calls with its own words", async () => {
  const throws = sessions.open({
    workers: 1,
    data: () => {
      throw new RangeError("no room for it");
    },
  });
  const said = /^data: the data of worker 1 could not be made: RangeError: no room for it\n.*worker-data/;
  await expect(throws.run(() => 1)).rejects.toThrow(said);
  const failed = throws
    .range(1)
    .map((row) => row)
    .count();
  await expect(failed).rejects.toBeInstanceOf(FunctionError);
  await expect(failed).rejects.toThrow(said);
  await throws.close();
  const other = sessions.open({ workers: 1, data: () => new Set() });
  await expect(other.run(() => 1)).rejects.toThrow(
    "the factory's result cannot be worker data: it has no get(), set().",
  );
  await other.close();
});

test("[K14] what cannot be worker data is refused before anything starts; outside a worker there is none", async () => {
  const refused = (data: unknown) => expect(() => session({ data: data as never }));
  refused({}).toThrow(OptionError);
  refused({}).toThrow("This object has no get(), set(), has(), delete(), keys().");
  refused([3]).toThrow("the factory must be a function or a class");
  refused({ factory: () => new Map(), args: 3 }).toThrow("session: data.args must be an array");
  class Hidden extends Map<string, number> {
    readonly #secret = 1;
    override get size(): number {
      return this.#secret;
    }
  }
  refused(new Hidden()).toThrow(
    "session: data is an instance of Hidden that has private members (#secret), but each worker needs its own copy. Give a class or a function that makes it",
  );
  expect(() => workerData()).toThrow("workerData: there is no worker data here.");
  const s = sessions.open({ workers: 1 });
  await expect(s.run(() => workerData())).rejects.toThrow("workerData: there is no worker data here.");
  await s.close();
});

test("[K14] worker data that evicts holds more than its worker has memory for, and the worker lives", async () => {
  const s = sessions.open({
    workers: 1,
    memoryLimit: "384 MiB",
    data: ({ directory }: WorkerDataPlace) => new OnDisk(directory),
  });
  const pages = 60;
  // A task each: where memory is short, the next one waits until the worker data has freed memory.
  const pids = await s
    .range(pages, { overrideNumBlocks: pages })
    .map((row) => {
      workerData<OnDisk>().set(`page-${row.id}`, Buffer.alloc(10_000_000, row.id));
      return { pid: process.pid };
    })
    .takeAll();
  expect(new Set(pids.map(({ pid }) => pid)).size).toBe(1);
  const [kept] = await s.run(() => {
    const data = workerData<OnDisk>();
    const keys = [...data.keys()].sort();
    return {
      inMemory: data.fast.size,
      whole: keys.filter((key) => data.get(key)?.at(-1) === Number(key.slice("page-".length))).length,
    };
  });
  expect(kept?.value.whole).toBe(pages);
  expect(kept?.value.inMemory).toBeLessThan(40);
  await s.close();
});

test("[K14] a worker whose worker data is full and frees nothing is replaced: the job does not wait for it", async () => {
  const pinned = ({ directory }: WorkerDataPlace) => Object.assign(new OnDisk(directory), { evict: async () => -1 });
  const s = sessions.open({ workers: 1, memoryLimit: "384 MiB", data: pinned });
  const reasons: string[] = [];
  s.onEvent((event) => {
    if (event.type === "recycled") reasons.push(event.why);
  });
  const rows = s.range(40, { overrideNumBlocks: 40 }).map((row) => {
    workerData<OnDisk>().set(`page-${row.id}`, Buffer.alloc(10_000_000, row.id));
    return row;
  });
  expect(await rows.count()).toBe(40);
  expect(reasons[0]).toMatch(/^its worker data \(data\) holds .* of its 384 MiB, and frees no more/);
  await s.close();
}, 60_000);
