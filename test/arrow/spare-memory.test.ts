import { expect, test } from "vitest";
import { SpareMemory } from "../../src/arrow/concat/spare-memory.ts";
import { BlockBuilder, columnsToBatch, toColumns } from "../../src/arrow/index.ts";

const KIB = 1024;

test("the smallest spare buffer that fits is given, none that is far too large", () => {
  const spare = new SpareMemory(10_000 * KIB);
  const [small, large] = [new ArrayBuffer(100 * KIB), new ArrayBuffer(300 * KIB)];
  spare.give(large);
  spare.give(small);
  expect(spare.take(10 * KIB)).toBeNull();
  expect(spare.take(90 * KIB)).toBe(small);
  expect(spare.take(90 * KIB)).toBe(large);
  expect(spare.take(90 * KIB)).toBeNull();
  expect(spare.byteLength).toBe(0);
});

test("no more is kept than was said: what was given back longest ago goes", () => {
  const spare = new SpareMemory(500 * KIB);
  const buffers = [200, 250, 260].map((size) => new ArrayBuffer(size * KIB));
  for (const buffer of buffers) spare.give(buffer);
  expect(spare.byteLength).toBe(260 * KIB);
  spare.give(new ArrayBuffer(501 * KIB));
  spare.give(new ArrayBuffer(KIB));
  expect(spare.byteLength).toBe(260 * KIB);
  expect(spare.take(200 * KIB)).toBe(buffers[2]);
});

test("a builder's memory is used again after its release, and nothing of what was in it shows", () => {
  const rows = 50_000;
  const first = Array.from({ length: rows }, (_, i) => (i % 3 === 0 ? null : { text: `first ${i}`, list: [i, -i] }));
  const one = new BlockBuilder();
  one.append(columnsToBatch({ value: first, number: Float64Array.from(first, (_, i) => i) }));
  const used = one.finish()?.columns[1]?.buffers[1]?.buffer;
  one.release();
  expect(one.rows).toBe(0);
  const second = Array.from({ length: rows - 1 }, (_, i) => (i % 5 === 0 ? null : { text: `${i}`, list: [] }));
  const two = new BlockBuilder();
  two.append(columnsToBatch({ value: second, number: Float64Array.from(second, (_, i) => -i) }));
  const batch = two.finish();
  expect(batch?.columns[1]?.buffers[1]?.buffer).toBe(used);
  expect(batch === null ? null : toColumns(batch)).toEqual({
    value: second,
    number: Float64Array.from(second, (_, i) => -i),
  });
});
