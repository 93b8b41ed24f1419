/** Which operators of a plan stand out. */
import { expect, test } from "vitest";
import { marksOf } from "../../src/dashboard/web/plan/marks.ts";
import { NOW, operatorCard, WORLD } from "../browser/support/invented.ts";

const MIB = 2 ** 20;

test("[W1] [M6] the fullest operator is the one whose tasks added the most, not the one that found the most", () => {
  const large = { ...operatorCard(WORLD, 0, NOW), id: 0, running: 0, peakMemory: 300 * MIB, addedMemory: 250 * MIB };
  const later = { ...operatorCard(WORLD, 0, NOW), id: 1, running: 0, peakMemory: 310 * MIB, addedMemory: 5 * MIB };
  const marks = marksOf([later, large]);
  expect([0, 1].map((id) => marks.get(id)?.includes("fullest"))).toEqual([true, false]);
});

test("[W1] [M6] an operator whose first task still runs is the slowest and the fullest, if it is", () => {
  const done = { ...operatorCard(WORLD, 0, NOW), id: 0, running: 0, wall: 8_000, addedMemory: 190 * MIB };
  const sort = {
    ...operatorCard(WORLD, 0, NOW),
    id: 1,
    running: 1,
    wall: 11_000,
    addedMemory: 0,
    memoryNow: 2_048 * MIB,
  };
  expect(marksOf([done, sort]).get(1)).toEqual(expect.arrayContaining(["slowest", "fullest"]));
});
