/** When memory is looked at, with a clock that is moved by hand. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { MemoryGauge } from "../../src/memory/index.ts";
import type { MemorySettings, WorkerId } from "../../src/protocol/index.ts";
import type { Event } from "../../src/scheduler/index.ts";
import { Sampler } from "../../src/supervisor/sampler.ts";
import { NO_THRESHOLDS } from "../support/memory-settings.ts";

const MIB = 2 ** 20;
const PROGRAM = 4;
const WORKER = 7 as WorkerId;
const WORKER_PID = 1007;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function sampling(more: Partial<MemorySettings> = {}) {
  const told: Event[] = [];
  const world = { private: 10 * MIB, workers: [{ worker: WORKER, pid: WORKER_PID }], asked: [] as unknown[] };
  const gauge: MemoryGauge = {
    process(pid, which) {
      world.asked.push([pid, which]);
      return { private: pid === WORKER_PID ? world.private : MIB, shared: 0, children: 0 };
    },
    node: () => ({ used: 5 * MIB, total: 500 * MIB }),
    oomKills: () => ({ container: 0, machine: 0, ours: 0 }),
    users: () => [],
  };
  const thresholds = { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95 };
  const settings = { ...NO_THRESHOLDS, thresholds, interval: 200, memoryMonitorRefreshMs: 250, ...more };
  const sampler = new Sampler(
    {
      settings,
      program: PROGRAM,
      workers: () => world.workers,
      limitOf: () => 100 * MIB,
      tell: (event) => told.push(event),
      inTurn: (look) => look(true),
    },
    gauge,
  );
  const looks = (type: Event["type"]) => told.filter((event) => event.type === type).length;
  return { sampler, world, told, looks };
}

test("[M1] while there is a job workers are looked at every interval, and the node as often as the monitor says", () => {
  const { sampler, looks } = sampling();
  sampler.busy = true;
  vi.advanceTimersByTime(0);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([1, 1]);
  vi.advanceTimersByTime(1000);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([6, 5]);
});

test("[K8] an interval longer than Node's timers can wait is kept to, and nobody looks all the time", () => {
  const days = 24 * 3_600_000;
  const { sampler, looks } = sampling({ interval: 60 * days, memoryMonitorRefreshMs: 30 * days });
  sampler.busy = true;
  vi.advanceTimersByTime(0);
  vi.advanceTimersByTime(30 * days - 1);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([1, 1]);
  vi.advanceTimersByTime(1);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([1, 2]);
  vi.advanceTimersByTime(30 * days);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([2, 3]);
  sampler.close();
  vi.advanceTimersByTime(120 * days);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([2, 3]);
});

test("[M1] with memoryMonitorRefreshMs of 0 the node is not watched", () => {
  const { sampler, looks } = sampling({ memoryMonitorRefreshMs: 0 });
  sampler.busy = true;
  vi.advanceTimersByTime(1000);
  expect([looks("memory"), looks("nodeMemory")]).toEqual([6, 0]);
});

test("[M1] after the last job there is one more look, and then none", () => {
  const { sampler, looks } = sampling();
  sampler.busy = true;
  vi.advanceTimersByTime(300);
  const before = looks("memory");
  sampler.busy = false;
  vi.advanceTimersByTime(5000);
  expect(looks("memory")).toBe(before + 1);
  sampler.busy = true;
  vi.advanceTimersByTime(200);
  expect(looks("memory")).toBe(before + 3);
});

test("[K5] a worker without work is looked at for as long as it has more of its own than its share for spilling", () => {
  const { sampler, world, looks } = sampling();
  sampler.busy = true;
  vi.advanceTimersByTime(200);
  world.private = 71 * MIB;
  sampler.busy = false;
  vi.advanceTimersByTime(1000);
  expect(looks("memory")).toBe(7);
  world.private = 70 * MIB;
  vi.advanceTimersByTime(1000);
  expect(looks("memory")).toBe(8);
});

test("[M7] the supervisor and the program are looked at without what they have started: that is the session itself", () => {
  const { sampler, world, told } = sampling();
  sampler.look();
  expect(world.asked).toEqual([
    [WORKER_PID, undefined],
    [process.pid, "alone"],
    [PROGRAM, "alone"],
  ]);
  expect(told[0]).toMatchObject({ type: "memory", supervisor: { private: MIB }, program: { private: MIB } });
});

test("[M2] the last fifty readings of a worker are kept until after its end", () => {
  const { sampler, world } = sampling();
  for (let i = 1; i <= 60; i++) {
    world.private = i * MIB;
    sampler.look();
  }
  world.workers = [];
  const curve = sampler.curveOf(WORKER).map(({ private: bytes }) => bytes / MIB);
  expect(curve).toEqual(Array.from({ length: 50 }, (_, i) => i + 11));
  expect(sampler.readings()).toMatchObject([{ worker: WORKER, private: 60 * MIB }]);
  sampler.look();
  expect(sampler.curveOf(WORKER)).toEqual([]);
});
