/**
 * The simulator's own tools: what finds a failure, makes it smaller and tells it; and the scheduler at scale, in small.
 */
import { expect, test } from "vitest";
import { BigWorld, decisionsPerSecond } from "./big.ts";
import { KINDS } from "./kinds.ts";
import { drawSession } from "./session.ts";
import { shrink } from "./shrink.ts";
import { run } from "./simulate.ts";
import { Story } from "./story.ts";
import { TooLong, withinTime } from "./watchdog.ts";

test("code that never comes back is ended, and says so", () => {
  const forEver = () => {
    for (;;);
  };
  expect(() => withinTime(20, forEver)).toThrow(TooLong);
  expect(withinTime(1_000, () => 7)).toBe(7);
});

test("a session that fails is made smaller until every part of it is needed", () => {
  const session = drawSession(7, KINDS.storm, "small");
  const rows = (one: typeof session) => one.starts.reduce((sum, { planned }) => sum + planned.expected.length, 0);
  expect(rows(session)).toBeGreaterThan(10);
  const smallest = shrink(session, (one) => (rows(one) > 2 && one.dangers.death > 0 ? "dies with rows" : null));
  expect(rows(smallest)).toBeLessThanOrEqual(4);
  expect(smallest.starts).toHaveLength(1);
  expect(smallest.starts[0]?.planned.spec.operators.length).toBeLessThanOrEqual(2);
  expect(smallest.workers).toBe(1);
  expect(Object.entries(smallest.dangers).filter(([, value]) => value > 0)).toEqual([["death", 0.03]]);
});

test("the same seed is the same session, to the last event", () => {
  const tellStory = () => {
    const story = new Story();
    run(drawSession(11, KINDS.rot, "tiny"), story, () => {});
    return story.text;
  };
  expect(tellStory()).toBe(tellStory());
});

test("[O4] a job of thousands of blocks gets through with a thousand workers, and leaves nothing", () => {
  const world = new BigWorld({ workers: 1_000, blocks: 10_000, capacity: 40_000, result: "counted" });
  world.start();
  world.run();
  expect(world.rows).toBe(5_000);
  expect(world.scheduler.ledger.blocks).toBe(0);
  world.scheduler.ledger.assertConsistent();
});

test("[D1] thousands of blocks that the program keeps, in a store that holds few of them", () => {
  const world = new BigWorld({ workers: 10, blocks: 5_000, capacity: 200, result: "kept" });
  world.start();
  world.run();
  expect(world.rows).toBe(5_000);
  expect(world.scheduler.ledger.blocks).toBe(5_000);
  expect(world.scheduler.ledger.onDisk).toBeGreaterThan(4_800 * 4_000);
  world.scheduler.ledger.assertConsistent();
});

test("[O4] a decision costs about the same with two thousand workers as with ten", () => {
  const blocks = 20_000;
  decisionsPerSecond(10, blocks);
  // Linear in workers would be hundreds of times slower: the bound is wide enough for any machine.
  expect(decisionsPerSecond(2_000, blocks)).toBeGreaterThan(decisionsPerSecond(10, blocks) / 5);
});
