import { expect, test } from "vitest";
import { FirstWorkers } from "../../src/supervisor/first-workers.ts";
import { TestClock } from "../support/clock.ts";

function waiting() {
  const pool = { isComplete: false };
  const clock = new TestClock();
  const first = new FirstWorkers(pool, clock);
  const answered: string[] = [];
  return { pool, clock, first, answered, ask: (name: string) => first.when(() => answered.push(name)) };
}

test("[K9] who asks before the first workers are up waits for them; later on nobody waits", () => {
  const { pool, clock, first, answered, ask } = waiting();
  ask("a");
  first.changed();
  ask("b");
  expect(answered).toEqual([]);
  pool.isComplete = true;
  first.changed();
  expect(answered).toEqual(["a", "b"]);
  expect(clock.pauses).toEqual([]);
  // One is being replaced.
  pool.isComplete = false;
  ask("c");
  expect(answered).toEqual(["a", "b", "c"]);
});

test("[K9] workers that do not come up are not waited for for ever", () => {
  const { clock, answered, ask } = waiting();
  ask("a");
  clock.pass(9_999);
  expect(answered).toEqual([]);
  clock.pass(1);
  expect(answered).toEqual(["a"]);
  ask("b");
  expect(answered).toEqual(["a", "b"]);
});
