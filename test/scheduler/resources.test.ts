/** The vector of resources alone. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Resources } from "../../src/scheduler/state/resources.ts";

const GIB = 2 ** 30;

test("adding, subtracting, scaling, smaller and larger", () => {
  const one = new Resources({ cpu: 1, gpu: 0.5, memory: GIB, objectStore: 10 });
  const two = new Resources({ cpu: 2, memory: 3 * GIB });
  expect(one.add(two)).toEqual(new Resources({ cpu: 3, gpu: 0.5, memory: 4 * GIB, objectStore: 10 }));
  expect(two.subtract(one)).toEqual(new Resources({ cpu: 1, gpu: -0.5, memory: 2 * GIB, objectStore: -10 }));
  expect(one.scale(0.75)).toEqual(new Resources({ cpu: 0.75, gpu: 0.375, memory: 0.75 * GIB, objectStore: 7 }));
  expect(one.min(two)).toEqual(new Resources({ cpu: 1, memory: GIB }));
  expect(one.max(two)).toEqual(new Resources({ cpu: 2, gpu: 0.5, memory: 3 * GIB, objectStore: 10 }));
  expect(one).toEqual(new Resources({ cpu: 1, gpu: 0.5, memory: GIB, objectStore: 10 }));
});

test("[O5] a request fits only where there is enough of everything", () => {
  const machine = new Resources({ cpu: 2, gpu: 1, memory: GIB });
  expect(machine.fits(machine)).toBe(true);
  expect(Resources.none.fits(Resources.none)).toBe(true);
  expect(new Resources({ cpu: 2.0001 }).fits(machine)).toBe(false);
  expect(new Resources({ gpu: 1.5 }).fits(machine)).toBe(false);
  expect(new Resources({ memory: GIB + 1 }).fits(machine)).toBe(false);
  expect(new Resources({ objectStore: 1 }).fits(machine)).toBe(false);
});

test("[O5] fractions are given back exactly, in whatever order", () => {
  const amount = fc.integer({ min: 0, max: 40_000 }).map((parts) => parts / 10_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(amount, amount), { maxLength: 200 }), (amounts) => {
      const requests = amounts.map(([cpu, gpu]) => new Resources({ cpu, gpu }));
      const taken = requests.reduce((sum, one) => sum.add(one), Resources.none);
      const left = requests.reduceRight((sum, one) => sum.subtract(one), taken);
      expect(left).toEqual(Resources.none);
    }),
  );
  const tenth = new Resources({ cpu: 0.1, gpu: 0.1 });
  let sum = Resources.none;
  for (let i = 0; i < 10; i++) sum = sum.add(tenth);
  expect(sum).toEqual(new Resources({ cpu: 1, gpu: 1 }));
});

test("as text: human sizes, nothing that is zero", () => {
  expect(String(new Resources({ cpu: 2, gpu: 0.5, memory: 4 * GIB, objectStore: 1.5 * GIB }))).toBe(
    "2 CPU, 0.5 GPU, 4.0 GiB memory, 1.5 GiB object store",
  );
  expect(String(new Resources({ cpu: 0.1 }).add(new Resources({ cpu: 0.2 })))).toBe("0.3 CPU");
  expect(String(Resources.none)).toBe("nothing");
});
