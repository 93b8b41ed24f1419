/** Rows to the blocks of their partitions. */
import { expect, test } from "vitest";
import { BlockBuilder, type RecordBatch, toRows } from "../../src/arrow/index.ts";
import { type BlockShape, type HandedOver, PARTITION } from "../../src/protocol/index.ts";
import { ScatterSink } from "../../src/worker/sinks/scatter-sink.ts";
import { InventedOutlet } from "./invented-outlet.ts";
import { columns } from "./task-bench.ts";

const PARTITIONS = 7;

/** Rows [start, end); every second one is of partition 0, so that it is the largest. */
function batch(start: number, end: number, wide = false): RecordBatch {
  const ids = Int32Array.from({ length: end - start }, (_, i) => start + i);
  const target = (id: number) => (id % 2 === 0 ? 0 : id % PARTITIONS);
  return columns({
    id: ids,
    [PARTITION]: wide ? BigInt64Array.from(ids, (id) => BigInt(target(id))) : ids.map(target),
    text: Array.from(ids, (id) => `row ${id}`),
  });
}

async function scatter(
  batches: readonly RecordBatch[],
  targetBytes: number,
  handedOver: readonly HandedOver[] = [],
  repair?: number,
) {
  const outlet = new InventedOutlet();
  const shape: BlockShape = { kind: "blocks", scatter: PARTITIONS, targetBytes, minBytes: 100 };
  const task = { handedOver, ...(repair === undefined ? {} : { repair }) };
  const sink = new ScatterSink("map", shape, PARTITIONS, task, outlet, new BlockBuilder());
  try {
    for (const each of batches) if (!sink.satisfied) await sink.push(each);
    await sink.end();
  } finally {
    sink.close();
  }
  return { outlet, sink };
}

const hundred = (wide = false) => Array.from({ length: 100 }, (_, i) => batch(i * 1000, i * 1000 + 1000, wide));

test.each([false, true])(
  "[A9] every row is in a block of its partition, in the order it came (64 bits: %s)",
  async (wide) => {
    const { outlet, sink } = await scatter(hundred(wide), 100_000);
    const found: number[][] = Array.from({ length: PARTITIONS }, () => []);
    for (const [index, block] of outlet.batches.entries()) {
      expect(block.schema.fields.map(({ name }) => name)).toEqual(["id", "text"]);
      found[outlet.partitions[index] ?? -1]?.push(...toRows(block, {}).map(({ id }) => Number(id)));
    }
    const expected: number[][] = Array.from({ length: PARTITIONS }, () => []);
    for (let id = 0; id < 100_000; id++) expected[id % 2 === 0 ? 0 : id % PARTITIONS]?.push(id);
    expect(found).toEqual(expected);
    expect(sink.rows).toBe(100_000);
    expect(Math.max(...outlet.lengths)).toBeLessThanOrEqual(100_000);
  },
);

test("[A9] what all partitions hold together is bounded: the largest goes first", async () => {
  const { outlet } = await scatter(hundred(), 2_000_000);
  // 100,000 rows are 1.9 MB: with a bound of 2 MB none would have to go before the end.
  expect(outlet.blocks.length).toBe(PARTITIONS);
  const tight = await scatter(hundred(), 500_000);
  const first = tight.outlet.partitions[0];
  expect(first).toBe(0);
  expect(tight.outlet.blocks.length).toBeGreaterThan(PARTITIONS);
});

test("[D5] a replay compares what was handed over and goes on after it, a repair gives its block alone", async () => {
  const { outlet: before } = await scatter(hundred(), 100_000);
  const again = await scatter(hundred(), 100_000, before.blocks.slice(0, 5));
  expect(again.outlet.blocks).toEqual(before.blocks.slice(5));
  expect(again.outlet.partitions).toEqual(before.partitions.slice(5));
  const repaired = await scatter(hundred(), 100_000, before.blocks, 3);
  expect(repaired.outlet.blocks).toEqual([before.blocks[3]]);
  const other = [batch(5, 1000), ...hundred().slice(1)];
  await expect(scatter(other, 100_000, before.blocks.slice(0, 5))).rejects.toThrow(/other rows than before/);
});

test("a number of no partition, or none, is our own error", async () => {
  await expect(scatter([columns({ id: [1], [PARTITION]: Int32Array.of(PARTITIONS) })], 1000)).rejects.toThrow(
    /partition 7 of 7/,
  );
  await expect(scatter([columns({ id: [1], [PARTITION]: Int32Array.of(-1) })], 1000)).rejects.toThrow(
    /partition -1 of 7/,
  );
  await expect(scatter([columns({ id: [1], [PARTITION]: BigInt64Array.of(2n ** 33n) })], 1000)).rejects.toThrow(/of 7/);
  await expect(scatter([columns({ id: [1, 2], [PARTITION]: [1, null] })], 1000)).rejects.toThrow(/null of 7/);
  await expect(scatter([columns({ id: [1] })], 1000)).rejects.toThrow(/without the column/);
});
