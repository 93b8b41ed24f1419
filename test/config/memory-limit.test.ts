/** What a worker may have, in every form in which it can be said. */
import { expect, test } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { automaticLimit, heapThatFits, nodeMemory } from "../../src/memory/index.ts";
import { resolveOptions, supervisorOptions } from "../../src/session/options.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const total = nodeMemory();

test("[K1] auto is the machine's memory by the worker's share of the cores", () => {
  const limit = (cores: number, workers: number) => automaticLimit({ memory: 64 * GIB, cores, store: 0 }, workers);
  expect(limit(8, 8)).toBe(8 * GIB);
  expect(limit(8, 1)).toBe(64 * GIB);
  expect(limit(8, 2)).toBe(32 * GIB);
  // Two threads each, of eight.
  expect(limit(8, 3)).toBe(16 * GIB);
  // More workers than cores: a thread each.
  expect(limit(8, 16)).toBe(8 * GIB);
  expect(limit(1, 4)).toBe(64 * GIB);
});

test("[K1] auto is cut from what the session may have, and leaves the heap as it fits beside the store", () => {
  const options = { workers: 2, objectStoreMemory: "128 MiB", resourceLimits: { cpu: 2, memory: "1 GiB" } } as const;
  const resolved = resolveOptions(options);
  expect(resolved.workerMemory).toBe(512 * MIB);
  expect(resolved.workerHeap).toBe(heapThatFits({ memory: GIB, cores: 2, store: 128 * MIB }, 2));
  expect(resolved.managedTarget).toBe(Math.floor(512 * MIB * 0.6));
  expect(resolveOptions({ ...options, workers: 4 }).workerMemory).toBe(512 * MIB);
});

test("[K1] auto is cut from what there is, also where tasks may ask for more", () => {
  const resolved = resolveOptions({ workers: 1, resourceLimits: { cpu: 1, memory: total * 4 } });
  expect(resolved).toMatchObject({ workerMemory: total, pool: { memory: total }, resources: { memory: total * 4 } });
  expect(resolved.workerHeap).toBeLessThan(total);
  expect(resolved.notices.join("\n")).not.toContain("memoryLimit of");
});

test("[K1] a session that may have too little for one worker is told what to give it", () => {
  expect(() => resolveOptions({ resourceLimits: { memory: "32 MiB" } })).toThrow(
    /^session: 32\.0 MiB of memory for 1 worker is too small: a worker needs at least 64\.0 MiB\. .*`resourceLimits\.memory`/,
  );
});

test("[K1] bytes, a text or a fraction of the machine", () => {
  const limit = (memoryLimit: number | string) => {
    const { workerMemory, workerHeap } = resolveOptions({ workers: 1, memoryLimit });
    expect(workerHeap).toBe(Math.floor((workerMemory ?? 0) * 0.75));
    return workerMemory;
  };
  expect(limit(200 * MIB)).toBe(200 * MIB);
  expect(limit("0.25 GiB")).toBe(256 * MIB);
  expect(limit(0.5)).toBe(Math.floor(total * 0.5));
  expect(limit("50%")).toBe(Math.floor(total * 0.5));
  expect(limit(1)).toBe(total);
  expect(() => resolveOptions({ memoryLimit: "10 MiB" })).toThrow(OptionError);
});

test.each([0, false, "0"] as const)("[K1] %j is none: no limit, no target, V8's own heap", (memoryLimit) => {
  const options = { workers: 1, objectStoreMemory: "64 MiB", memoryLimit };
  expect(resolveOptions(options)).toMatchObject({ workerMemory: null, workerHeap: null, managedTarget: null });
  expect(supervisorOptions(resolveOptions(options), "state")).toMatchObject({ workerMemory: null, workerHeap: null });
});

test("[K1] more than the machine is lowered to it, and said", () => {
  const { workerMemory, notices } = resolveOptions({ workers: 1, memoryLimit: total * 4 });
  expect(workerMemory).toBe(total);
  const lowered = /^memoryLimit of .* is more than this machine or its container has: lowered to /;
  expect(notices).toContainEqual(expect.stringMatching(lowered));
  expect(resolveOptions({ workers: 1, memoryLimit: total }).notices).not.toContainEqual(expect.stringMatching(lowered));
});

test("[K1] fewer workers than cores, where memory is too small for them, are said", () => {
  const limits = { cpu: 8, memory: "1 GiB" } as const;
  const { workers, notices } = resolveOptions({ objectStoreMemory: "300 MiB", resourceLimits: limits });
  expect(workers).toBe(4);
  expect(notices.join("\n")).toContain("4 workers for 8 cores: of 1.0 GiB of memory, the store may take 300 MiB.");
});

test("[K8] what is measured and when is as the settings say", () => {
  const memory = {
    target: 0.5,
    spill: false,
    recentToOldTime: "1m",
    monitorInterval: 50,
    pausedTooLong: "5s",
  } as const;
  const { memory: resolved } = resolveOptions({
    worker: { memory },
    measure: "managed",
    memoryUsageThreshold: 0.9,
    memoryMonitorRefreshMs: 0,
  });
  expect(resolved).toEqual({
    thresholds: { target: 0.5, spill: false, pause: 0.8, terminate: 0.95 },
    interval: 50,
    measure: "managed",
    recentToOldTime: 60_000,
    pausedTooLong: 5_000,
    memoryUsageThreshold: 0.9,
    memoryMonitorRefreshMs: 0,
  });
  // As every threshold it can be off: then nobody looks at the node.
  expect(resolveOptions({ memoryUsageThreshold: false }).memory.memoryMonitorRefreshMs).toBe(0);
});
