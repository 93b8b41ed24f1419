import { expect, test } from "vitest";
import { heapThatFits, workersThatFit } from "../../src/memory/index.ts";

const MIB = 2 ** 20;
const node = (mib: number, cores: number) => ({ memory: mib * MIB, cores, store: 0.3 * mib * MIB });

test("[K1] one worker a core where there is memory for it, fewer where not, always one", () => {
  expect(workersThatFit(node(16_384, 8))).toBe(8);
  expect(workersThatFit(node(1024, 2))).toBe(2);
  expect(workersThatFit(node(1024, 8))).toBe(4);
  expect(workersThatFit(node(512, 2))).toBe(1);
  expect(workersThatFit(node(256, 2))).toBe(1);
  expect(workersThatFit(node(64, 2))).toBe(1);
});

/** V8's young space is beside the limit of its old one: two halves of 16 MiB and large objects. */
const YOUNG_SPACE = 48 * MIB;

test("[K1] the heaps of all workers, a full store and the program fit into the machine", () => {
  for (const mib of [256, 512, 1024, 16_384]) {
    const machine = node(mib, 8);
    const workers = workersThatFit(machine);
    expect(workers * (heapThatFits(machine, workers) + YOUNG_SPACE) + machine.store).toBeLessThan(
      machine.memory * 0.95,
    );
  }
});
