/** The attempts of a task in the wide kernel: what follows which end, and what each has. */
import { expect, test } from "vitest";
import { FIRST_ATTEMPT, leaseFor, nextAttempt, type WideAttempt, type WideEnd } from "../../src/memory/index.ts";

const MIB = 2 ** 20;
const GIB = 1024 * MIB;
const REFUSED: WideEnd = { kind: "refused" };

function ladder(end: WideEnd, threads: number): WideAttempt[] {
  const attempts: WideAttempt[] = [];
  for (let next: WideAttempt | null = FIRST_ATTEMPT; next !== null && attempts.length < 20; ) {
    attempts.push(next);
    next = nextAttempt(next, end, threads);
  }
  return attempts;
}

test("[D1] a kernel that was refused memory has one thread, then nearly all memory, and then nothing is left", () => {
  expect(ladder(REFUSED, 4).map(({ kind }) => kind)).toEqual(["first", "oneThread", "most"]);
  expect(ladder(REFUSED, 1).map(({ kind }) => kind)).toEqual(["first", "most"]);
});

test("[D5] no attempt that was refused memory is followed by one with less", () => {
  for (const process of [200 * MIB, 500 * MIB, 2 * GIB]) {
    const had = ladder(REFUSED, 4).map((attempt) => leaseFor(attempt, process, 4).memory ?? 0);
    expect(had).toEqual([...had].sort((a, b) => a - b));
  }
});

test("[D5] after a kill, buffers leave room for what was seen beside them, and more after each further kill", () => {
  const killed: WideEnd = { kind: "killed", buffers: 200e6, peak: 60e6 + 600e6 };
  const measured = nextAttempt(FIRST_ATTEMPT, killed, 4);
  expect(measured).toEqual({ kind: "measured", perByte: 3.75 });
  if (measured === null) throw new Error("no further attempt");
  expect(leaseFor(measured, 60e6 + 750e6, 4)).toEqual({ memory: 200e6, threads: 1 });
  expect(nextAttempt(measured, { kind: "killed", buffers: 200e6, peak: 500e6 }, 4)).toEqual({
    kind: "measured",
    perByte: 3.75 * 1.25,
  });
  expect(nextAttempt(measured, REFUSED, 4)).toBeNull();
});

test("[D5] a kernel that nobody had measured is taken to hold more than usual; one with the least is not tried again", () => {
  const unseen = nextAttempt(FIRST_ATTEMPT, { kind: "killed", buffers: null, peak: null }, 4);
  expect(unseen).toEqual({ kind: "measured", perByte: 2 });
  if (unseen === null) throw new Error("no further attempt");
  expect(leaseFor(unseen, 100e6, 4).memory).toBe(48 * MIB);
  expect(nextAttempt(unseen, { kind: "killed", buffers: 48 * MIB, peak: null }, 4)).toBeNull();
});
