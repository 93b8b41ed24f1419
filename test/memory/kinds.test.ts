/** Kinds of memory add up in every reading; what is old is the least that was there for long enough. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { colourOf, kindsOf, LeastOverTime, SPILLED_COLOUR } from "../../src/memory/index.ts";
import type { Pressure, Thresholds } from "../../src/protocol/index.ts";

const SPAN = 30_000;
const bytes = fc.nat(2 ** 40);
const use = fc.record({ private: bytes, blocks: bytes, kernel: bytes, workerData: bytes, spilled: bytes });

test("[K9] managed + unmanaged + recent = process in every reading, none of them below nothing", () => {
  const readings = fc.array(fc.tuple(use, fc.nat(20_000)), { maxLength: 60 });
  fc.assert(
    fc.property(readings, (steps) => {
      const over = new LeastOverTime(SPAN);
      const seen: { readonly at: number; readonly rest: number }[] = [];
      let now = 0;
      for (const [one, pause] of steps) {
        now += pause;
        const kinds = kindsOf(one, over, now);
        expect(kinds.process).toBe(one.private + one.blocks);
        expect(kinds.managed + kinds.unmanaged + kinds.recent).toBe(kinds.process);
        expect(Math.min(kinds.managed, kinds.unmanaged, kinds.recent)).toBeGreaterThanOrEqual(0);
        expect(kinds.managed).toBe(Math.min(kinds.process, one.blocks + one.kernel + one.workerData));
        expect(kinds.spilled).toBe(one.spilled);
        seen.push({ at: now, rest: kinds.process - kinds.managed });
        const within = seen.filter(({ at }) => at >= now - SPAN).map(({ rest }) => rest);
        const isLongEnough = now - (seen[0]?.at ?? 0) >= SPAN;
        expect(kinds.unmanaged).toBe(isLongEnough ? Math.min(...within) : 0);
      }
    }),
  );
});

test("[K9] what is unmanaged is recent for recentToOldTime, and old from then on; what is freed is not old any more", () => {
  const over = new LeastOverTime(SPAN);
  const of = (privately: number, now: number) =>
    kindsOf({ private: privately, blocks: 10, kernel: 5, workerData: 0, spilled: 0 }, over, now);
  expect(of(105, 0)).toMatchObject({ process: 115, managed: 15, unmanaged: 0, recent: 100 });
  expect(of(105, SPAN - 1)).toMatchObject({ unmanaged: 0, recent: 100 });
  expect(of(145, SPAN)).toMatchObject({ unmanaged: 100, recent: 40 });
  expect(of(35, SPAN + 1)).toMatchObject({ unmanaged: 30, recent: 0 });
  expect(of(145, SPAN + 2)).toMatchObject({ unmanaged: 30, recent: 110 });
  expect(of(145, 2 * SPAN + 1)).toMatchObject({ unmanaged: 30, recent: 110 });
  expect(of(145, 2 * SPAN + 2)).toMatchObject({ unmanaged: 140, recent: 0 });
});

test("[K10] blue is normal, orange may be spilling, red is paused or about to end", () => {
  const colour = (pressure: Pressure, share: number, isStopping = false, only: Partial<Thresholds> = {}) =>
    colourOf(pressure, isStopping, share * 100, 100, { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95, ...only });
  expect(colour("normal", 0.6)).toBe("blue");
  expect(colour("spilling", 0.5)).toBe("orange");
  // Blocks leave from the lower of the two on.
  expect(colour("normal", 0.61)).toBe("orange");
  expect(colour("normal", 0.61, false, { target: false })).toBe("blue");
  expect(colour("normal", 0.71, false, { target: false })).toBe("orange");
  expect(colour("normal", 0.9, false, { target: false, spill: false })).toBe("blue");
  expect(colour("paused", 0.81)).toBe("red");
  expect(colour("terminating", 0.96, true)).toBe("red");
  expect(colour("normal", 0.1, true)).toBe("red");
  expect(SPILLED_COLOUR).toBe("grey");
});
