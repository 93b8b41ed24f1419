import { expect, test } from "vitest";
import { InOrder } from "../../src/worker/steps/in-order.ts";

interface Call {
  readonly answer: Promise<number>;
  resolve(value: number): void;
}

function open(): Call {
  let resolve: (value: number) => void = () => {};
  const answer = new Promise<number>((done) => {
    resolve = done;
  });
  return { answer, resolve };
}

/** Calls as they get room, until nothing has happened for a turn of the event loop. */
async function ahead(calls: InOrder<number>, call: (i: number) => Promise<number>, most: number): Promise<number> {
  let added = 0;
  const adding = (async () => {
    while (added < most) {
      await calls.room();
      calls.add(call(added++));
    }
  })();
  await Promise.race([adding, new Promise((resolve) => setTimeout(resolve, 20))]);
  return added;
}

test("[A4] results behind a slow call wait in their order, as many as the bytes allow, and new calls go on", async () => {
  const slow = open();
  const taken: number[] = [];
  const calls = new InOrder<number>(
    4,
    { take: (result) => void taken.push(result), bytes: () => 10_000, drop: () => {} },
    1_000_000,
  );
  const call = (i: number) => (i === 0 ? slow.answer : Promise.resolve(i));
  const added = await ahead(calls, call, 10_000);
  expect(added).toBeGreaterThan(80);
  expect(added).toBeLessThan(110);
  expect(taken).toEqual([]);
  slow.resolve(0);
  await calls.room();
  expect(taken).toEqual(Array.from({ length: added }, (_, i) => i));
  // What was taken leaves room for as many again.
  const second = open();
  expect(await ahead(calls, (i) => (i === 0 ? second.answer : Promise.resolve(i)), 10_000)).toBe(added);
  second.resolve(0);
  await calls.drain();
});

test("[A4] no more than maxInFlight are under way, however small results are", async () => {
  const running: Call[] = [];
  const calls = new InOrder<number>(3, { take: () => {}, bytes: () => 0, drop: () => {} });
  const call = () => {
    const one = open();
    running.push(one);
    return one.answer;
  };
  const adding = ahead(calls, call, 100);
  expect(await adding).toBe(3);
  calls.abandon();
});
