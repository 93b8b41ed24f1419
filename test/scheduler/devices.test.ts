/** Giving GPUs away, device by device. */
import { expect, test } from "vitest";
import { DevicePool } from "../../src/scheduler/state/index.ts";

test("[O9] whole requests get devices of their own", () => {
  const pool = new DevicePool(["0", "1", "2"]);
  expect(pool.take(1)).toEqual(["0"]);
  expect(pool.take(2)).toEqual(["1", "2"]);
  expect(pool.take(1)).toBeNull();
  expect(pool.used).toBe(3);
  pool.giveBack(["1", "2"], 2);
  expect(pool.canTake(2)).toBe(true);
  expect(pool.canTake(3)).toBe(false);
  expect(pool.take(1, ["2"])).toEqual(["2"]);
});

test("[O9] parts share a device, the fullest that has enough; whole ones stay whole", () => {
  const pool = new DevicePool(["0", "1"]);
  expect([pool.take(0.5), pool.take(0.5), pool.take(0.3)]).toEqual([["0"], ["0"], ["1"]]);
  expect(pool.used).toBe(1.3);
  expect(pool.canTake(1)).toBe(false);
  expect(pool.canTake(0.8)).toBe(false);
  expect(pool.take(0.7)).toEqual(["1"]);
  for (const [names, amount] of [
    [["0"], 0.5],
    [["1"], 0.7],
    [["1"], 0.3],
  ] as const) {
    pool.giveBack(names, amount);
  }
  expect(pool.take(1)).toEqual(["1"]);
  expect(() => pool.giveBack(["0"], 1)).toThrow("GPU 0 would have 1.5 of itself free");
});

test("[O9] tenths of a device add up to it exactly, and nothing needs nothing", () => {
  const pool = new DevicePool(["0"]);
  for (let i = 0; i < 10; i++) expect(pool.take(0.1)).toEqual(["0"]);
  expect(pool.canTake(0.0001)).toBe(false);
  for (let i = 0; i < 10; i++) pool.giveBack(["0"], 0.1);
  expect(pool.used).toBe(0);
  expect(new DevicePool([]).take(0)).toEqual([]);
});
