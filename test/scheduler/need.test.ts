/** What the next attempt asks for, by itself. */
import { expect, test } from "vitest";
import { NO_NEED, nextNeed, stricter } from "../../src/scheduler/needs/need.ts";
import type { Shortage } from "../../src/scheduler/state/index.ts";
import { needText } from "../../src/units/index.ts";

const MIB = 2 ** 20;

/** Four at once in a machine with 1 GiB for tasks, each in a worker of 256 MiB. */
function shortage(more: Partial<Shortage> = {}): Shortage {
  return {
    cause: "cgroupOom",
    need: NO_NEED,
    batchSize: 1024,
    isFixed: false,
    atOnce: 4,
    memory: 300 * MIB,
    limit: 256 * MIB,
    room: 1024 * MIB,
    foreign: null,
    kernel: null,
    ...more,
  };
}

/** All that a task asks for, attempt by attempt, until nothing is left. */
function attempts(first: Partial<Shortage>): string[] {
  const texts: string[] = [];
  let { need, batchSize } = shortage(first);
  for (let i = 0; i < 8; i++) {
    const next = nextNeed(shortage({ ...first, need, batchSize }));
    if (next === null) return texts;
    texts.push(needText({ ...next, memory: null }));
    batchSize = next.batchSize ?? batchSize;
    need = next;
  }
  return texts;
}

test("[M3] half the batch, half again and fewer at once, alone with a quarter, alone with one row", () => {
  expect(attempts({}).slice(0, 4)).toEqual([
    "batches of 512 rows",
    "batches of 256 rows, 2 at once",
    "batches of 64 rows, alone on the machine",
    "batches of 1 row, alone on the machine",
  ]);
});

test("[M3] fewer at once are as many as fit by what one was seen to have, and half at most", () => {
  const asked = { need: { ...NO_NEED, batchSize: 512 }, batchSize: 512 };
  expect(nextNeed(shortage({ ...asked, atOnce: 8, memory: 100 * MIB }))).toMatchObject({ atOnce: 4 });
  expect(nextNeed(shortage({ ...asked, atOnce: 8, memory: 400 * MIB }))).toMatchObject({
    atOnce: 2,
    memory: 400 * MIB,
  });
  expect(nextNeed(shortage({ ...asked, atOnce: 8, memory: null }))).toMatchObject({ atOnce: 4, memory: null });
  expect(nextNeed(shortage({ ...asked, atOnce: 3, memory: 2048 * MIB }))).toMatchObject({ atOnce: 1 });
});

test("[M3] what does not apply is left out: no batch, one at once, blocks that were handed over", () => {
  expect(attempts({ batchSize: null, cause: "heap" })).toEqual(["2 at once", "alone on the machine"]);
  expect(attempts({ batchSize: null }).slice(0, 2)).toEqual(["2 at once", "alone on the machine"]);
  expect(attempts({ batchSize: null, atOnce: 1 })[0]).toBe("alone on the machine");
  expect(attempts({ isFixed: true }).slice(0, 2)).toEqual(["2 at once", "alone on the machine"]);
  expect(attempts({ batchSize: 1, atOnce: 1 })[0]).toBe("alone on the machine");
});

test("[M3] a worker that is full itself is replaced by one of twice the size, then by one with all the memory", () => {
  const [first, second] = [shortage({ cause: "heap", batchSize: null }), shortage({ cause: "heap", batchSize: null })];
  const larger = nextNeed(first);
  expect(larger).toEqual({ batchSize: null, atOnce: 2, alone: false, memory: 512 * MIB });
  expect(nextNeed({ ...second, need: larger ?? NO_NEED, limit: 512 * MIB })).toMatchObject({ alone: true });
  // It has all of it already.
  expect(nextNeed(shortage({ cause: "heap", batchSize: null, limit: 1024 * MIB }))).toBeNull();
  expect(nextNeed(shortage({ cause: "terminate", batchSize: null, limit: Number.POSITIVE_INFINITY }))).toBeNull();
});

test("[M3] for the kernel's own limit batches do not matter, and more memory does", () => {
  expect(attempts({ cause: "engineMemory" })).toEqual(["2 at once", "alone on the machine"]);
  expect(attempts({ cause: "engineMemory", limit: Number.POSITIVE_INFINITY })).toEqual(["alone on the machine"]);
});

test("[M3] alone and still too much: the same again only where others may have filled the machine", () => {
  const alone = { ...NO_NEED, atOnce: 1, alone: true };
  expect(nextNeed(shortage({ need: alone, batchSize: 1, cause: "heap" }))).toBeNull();
  expect(nextNeed(shortage({ need: alone, batchSize: 1, cause: "allocation" }))).toBeNull();
  expect(nextNeed(shortage({ need: alone, batchSize: 1, cause: "monitor" }))).toMatchObject({ alone: true });
});

test("[M3] of two needs the stricter is remembered", () => {
  const one = { batchSize: 512, atOnce: null, alone: false, memory: 10 };
  const other = { batchSize: 256, atOnce: 2, alone: true, memory: null };
  expect(stricter(one, other)).toEqual({ batchSize: 256, atOnce: 2, alone: true, memory: 10 });
  expect(stricter(null, one)).toBe(one);
});

test("[M3] what is told of a need is what is kept for it: memory only where fewer run at once", () => {
  const need = { batchSize: 512, atOnce: null, alone: false, memory: 240 * MIB };
  expect(needText(need)).toBe("batches of 512 rows");
  expect(needText({ ...need, atOnce: 2 })).toBe("batches of 512 rows, 2 at once, 240 MiB each");
  expect(needText({ ...need, atOnce: 1, alone: true })).toBe("batches of 512 rows, alone on the machine");
});

test("[M3] a kernel that ran out is given more as long as there is more for it, whatever the limit of its worker is", () => {
  // A box of 512 MiB: the worker may have all of it, its kernel had 96 MiB, and a task that is alone could give it 170.
  const box = { cause: "engineMemory", batchSize: 1, atOnce: 1, limit: 512 * MIB, room: 262 * MIB } as const;
  const kernel = { had: 96 * MIB, most: 170 * MIB };
  expect(nextNeed(shortage({ ...box, kernel }))).toMatchObject({ alone: true });
  // Alone for another reason: its kernel had its usual part.
  const alone = { ...NO_NEED, alone: true, atOnce: 1 };
  expect(nextNeed(shortage({ ...box, kernel, need: alone }))).toMatchObject({ alone: true });
  expect(nextNeed(shortage({ ...box, kernel: { had: 170 * MIB, most: 170 * MIB }, need: alone }))).toBeNull();
  // A worker twice as large would not give the kernel more than it has.
  const large = { cause: "engineMemory", batchSize: null, limit: 256 * MIB, room: 2048 * MIB } as const;
  expect(nextNeed(shortage({ ...large, kernel: { had: 800 * MIB, most: 1600 * MIB } }))).toMatchObject({ alone: true });
  expect(nextNeed(shortage({ ...large, kernel: { had: 96 * MIB, most: 1600 * MIB } }))).toMatchObject({ atOnce: 4 });
});
