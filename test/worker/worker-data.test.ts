import { expect, test, vi } from "vitest";
import { OwnWorkerData, type WorkerDataEvents } from "../../src/worker/worker-data.ts";

interface Heard extends WorkerDataEvents {
  readonly held: [bytes: number, evicts: boolean][];
  readonly failures: string[];
  /** How much had been told when memory was given back. */
  readonly trims: number[];
  /** How much had been told when it had nothing more. */
  readonly nothingToEvictAfter: number[];
}

function listener(): Heard {
  const held: [number, boolean][] = [];
  const failures: string[] = [];
  const trims: number[] = [];
  const nothingToEvictAfter: number[] = [];
  return {
    held,
    trims,
    nothingToEvictAfter,
    nothingToEvict: () => nothingToEvictAfter.push(held.length),
    failures,
    holds: (bytes, evicts) => held.push([bytes, evicts]),
    evicted: async () => {
      trims.push(held.length);
    },
    failed: (text) => failures.push(text),
  };
}

/** Says what it holds itself, and frees ten bytes at a time. */
function evicting(bytes: number, frees: (left: number) => number = () => 10) {
  const fast = Object.assign(new Map(), { bytes });
  return Object.assign(new Map(), {
    fast,
    evict() {
      const freed = fast.bytes === 0 ? -1 : frees(fast.bytes);
      fast.bytes -= Math.max(0, freed);
      return freed;
    },
  });
}

test("[K14] what it holds is told at the start, and again only when it has changed", () => {
  // Measuring takes no time.
  vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 0, system: 0 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const map = Object.assign(new Map(), { bytes: 5 });
    const heard = listener();
    const data = new OwnWorkerData(map, heard);
    expect(heard.held).toEqual([[5, false]]);
    data.taskStarts();
    vi.advanceTimersByTime(1000);
    expect(heard.held.length).toBe(1);
    map.bytes = 6;
    vi.advanceTimersByTime(200);
    expect(heard.held.at(-1)).toEqual([6, false]);
    map.bytes = 7;
    vi.advanceTimersByTime(50);
    expect(heard.held.length).toBe(2);
    // At the end of a task at once, so that the scheduler knows before it hears of the end.
    data.taskEnds();
    expect(heard.held.at(-1)).toEqual([7, false]);
    map.bytes = 8;
    vi.advanceTimersByTime(1000);
    expect(heard.held.at(-1)).toEqual([8, false]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});

test("[K14] measuring takes a fiftieth of the time at most, and what was not measured is measured later", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 10_000, system: 10_000 });
  try {
    const map = Object.assign(new Map(), { bytes: 5 });
    const heard = listener();
    const data = new OwnWorkerData(map, heard);
    map.bytes = 6;
    data.taskEnds();
    vi.advanceTimersByTime(999);
    expect(heard.held.length).toBe(1);
    vi.advanceTimersByTime(2);
    expect(heard.held.at(-1)).toEqual([6, false]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});

test("[K14] one measuring that took long is not believed: the next task's end is measured, and so is whatever somebody decides by", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const took = vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 0, system: 0 });
  try {
    const map = Object.assign(new Map(), { bytes: 5 });
    const heard = listener();
    const data = new OwnWorkerData(map, heard);
    // A collection of garbage came in between.
    took.mockReturnValue({ user: 40_000, system: 10_000 });
    for (const bytes of [6, 7]) {
      map.bytes = bytes;
      data.taskEnds();
      expect(heard.held.at(-1)).toEqual([bytes, false]);
    }
    // Three times in a row it is believed.
    map.bytes = 8;
    data.taskEnds();
    map.bytes = 9;
    data.taskEnds();
    expect(heard.held.at(-1)).toEqual([8, false]);
    data.lookNow();
    expect(heard.held.at(-1)).toEqual([9, false]);
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});

test("[K14] evict() is called until so many bytes are free, and what is left is told at once", async () => {
  const heard = listener();
  const data = new OwnWorkerData(evicting(100), heard);
  await data.evict(25);
  expect(heard.held).toEqual([
    [100, true],
    [70, true],
  ]);
  expect(heard.trims).toEqual([1]);
  expect(heard.nothingToEvictAfter).toEqual([]);
});

test("[K14] asked again while it evicts, it does not evict twice as much", async () => {
  const heard = listener();
  const data = new OwnWorkerData(evicting(100), heard);
  await Promise.all([data.evict(20), data.evict(20)]);
  expect(heard.held.at(-1)).toEqual([80, true]);
});

test("[K14] evict() ends with −1, with 0 and with an error, which is told", async () => {
  const empty = listener();
  await new OwnWorkerData(evicting(20), empty).evict(1000);
  expect(empty.held.at(-1)).toEqual([0, true]);
  const idle = listener();
  await new OwnWorkerData(
    evicting(20, () => 0),
    idle,
  ).evict(1000);
  expect([idle.held, idle.trims]).toEqual([[[20, true]], []]);
  const broken = listener();
  const throws = () => {
    throw new Error("disk full");
  };
  await new OwnWorkerData(evicting(20, throws), broken).evict(1000);
  expect(broken.failures).toEqual(["evict() of the worker data threw Error: disk full"]);
});

test.each([
  ["−1 while it holds something", () => -1],
  ["0", () => 0],
  ["NaN", () => Number.NaN],
  ["what is no number", () => "10" as never],
  ["a promise of nothing", () => Promise.resolve(undefined as never)],
  [
    "a promise that is broken",
    async () => {
      throw new Error("disk full");
    },
  ],
  ["more than it frees", () => 1000],
])("[K14] who asked is told that to ask again does not help where evict() gives %s", async (_, evict) => {
  const heard = listener();
  const fast = Object.assign(new Map(), { bytes: 20 });
  const data = new OwnWorkerData(Object.assign(new Map(), { fast, evict }), heard);
  await data.evict(10);
  expect(heard.held).toEqual([[20, true]]);
  expect(heard.nothingToEvictAfter).toEqual([1]);
});

test("[K14] evict() that never ends is waited for ten seconds, told once, and not called again before it has ended", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const heard = listener();
    const fast = Object.assign(new Map(), { bytes: 20 });
    const ends: ((freed: number) => void)[] = [];
    const evict = () => new Promise<number>((resolve) => ends.push(resolve));
    const data = new OwnWorkerData(Object.assign(new Map(), { fast, evict }), heard);
    const first = data.evict(10);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(heard.nothingToEvictAfter).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await first;
    expect(heard.nothingToEvictAfter).toEqual([1]);
    expect(heard.failures).toEqual(["evict() of the worker data has not ended after 10 s"]);
    await data.evict(10);
    expect([heard.nothingToEvictAfter, ends.length]).toEqual([[1, 1], 1]);
    ends[0]?.(5);
    await vi.advanceTimersByTimeAsync(0);
    const second = data.evict(10);
    await vi.advanceTimersByTimeAsync(0);
    fast.bytes = 10;
    ends[1]?.(10);
    await second;
    expect(heard.held.at(-1)).toEqual([10, true]);
    expect([heard.nothingToEvictAfter.length, heard.failures.length]).toEqual([2, 1]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("[K14] while it evicts only what comes is told: what leaves is nobody's leak before the system has it back", async () => {
  const heard = listener();
  const fast = Object.assign(new Map(), { bytes: 20 });
  const looks = [15, 30, 5];
  const data: OwnWorkerData = new OwnWorkerData(
    Object.assign(new Map(), {
      fast,
      evict() {
        fast.bytes = looks.shift() ?? 0;
        data.lookNow();
        return 5;
      },
    }),
    heard,
  );
  await data.evict(15);
  expect(heard.held.map(([bytes]) => bytes)).toEqual([20, 30, 5]);
  expect(heard.trims).toEqual([2]);
});

test("[K14] worker data that cannot be measured is reported once", () => {
  const heard = listener();
  const broken = new Map();
  Object.defineProperty(broken, "bytes", {
    get() {
      throw new Error("closed");
    },
  });
  const data = new OwnWorkerData(broken, heard);
  data.lookNow();
  expect(heard.failures).toEqual(["worker data cannot be measured: Error: closed"]);
});

test("[K14] one that cannot evict is left alone", async () => {
  const heard = listener();
  await new OwnWorkerData(new Map(), heard).evict(10);
  expect(heard.held.length).toBe(1);
});
