import { expect, test } from "vitest";
import { StoreError } from "../../src/errors/index.ts";
import type { BlockId, WorkerId } from "../../src/protocol/index.ts";
import { Ledger, PAGE } from "../../src/store/index.ts";

function ledgerOf(pages: number): Ledger {
  return new Ledger(pages * 8 * PAGE, pages * PAGE);
}

function reserve(ledger: Ledger, pages: number) {
  const allocation = ledger.reserve(pages * PAGE);
  if (allocation === null) throw new Error("no room");
  return allocation.range;
}

test("[R6] a block is freed the moment its last holder lets go", () => {
  const ledger = ledgerOf(10);
  const block = ledger.seal(reserve(ledger, 3), 2 * PAGE, 7, 0, "program", null);
  expect(block).toEqual({ id: 1, length: 2 * PAGE, rows: 7 });
  expect(ledger.live).toBe(2 * PAGE);
  ledger.retain(block.id, "job:a");
  ledger.retain(block.id, "job:a");
  ledger.release(block.id, "program");
  ledger.release(block.id, "job:a");
  expect(ledger.live).toBe(2 * PAGE);
  ledger.assertConsistent();
  ledger.release(block.id, "job:a");
  expect(ledger.live).toBe(0);
  expect(ledger.has(block.id)).toBe(false);
  ledger.assertConsistent();
});

test("passing a reference on changes the holder and nothing else", () => {
  const ledger = ledgerOf(10);
  const { id } = ledger.seal(reserve(ledger, 1), 10, 1, 0, "job:a", null);
  ledger.pass(id, "job:a", "task:a/0/0");
  expect(ledger.holds("job:a")).toEqual({ references: 0, bytes: 0 });
  expect(ledger.holds("task:a/0/0")).toEqual({ references: 1, bytes: PAGE });
  ledger.pass(id, "task:a/0/0", "program");
  expect(ledger.holds("program").bytes).toBe(PAGE);
  ledger.release(id, "program");
  expect(ledger.live).toBe(0);
});

test("what a holder holds twice counts once in bytes", () => {
  const ledger = ledgerOf(10);
  const { id } = ledger.seal(reserve(ledger, 2), 2 * PAGE, 1, 0, "program", null);
  ledger.retain(id, "program");
  expect(ledger.holds("program")).toEqual({ references: 2, bytes: 2 * PAGE });
  ledger.release(id, "program");
  expect(ledger.holds("program")).toEqual({ references: 1, bytes: 2 * PAGE });
});

test("a reservation of a writer that died is free again", () => {
  const ledger = ledgerOf(4);
  const range = reserve(ledger, 4);
  expect(ledger.reserve(1)).toBe(null);
  ledger.abandon(range);
  expect(ledger.room).toBe(4 * PAGE);
  expect(() => ledger.abandon(range)).toThrow(/not reserved/);
  ledger.assertConsistent();
});

test("a block that could never fit is an error that names both numbers", () => {
  const ledger = ledgerOf(4);
  expect(() => ledger.assertFits(5 * PAGE, "map: a task")).toThrow(StoreError);
  expect(() => ledger.assertFits(5 * PAGE, "map: a task")).toThrow(
    /map: a task needs 20.0 KiB .* capacity is 16.0 KiB/,
  );
  ledger.assertFits(4 * PAGE, "map: a task");
});

test("letting go of what one does not hold is an error", () => {
  const ledger = ledgerOf(4);
  const { id } = ledger.seal(reserve(ledger, 1), 1, 1, 0, "program", null);
  expect(() => ledger.release(id, "job:x")).toThrow(/not held by job:x/);
  expect(() => ledger.retain(99 as BlockId, "program")).toThrow(/no block 99/);
});

test("[K15] who takes a block over is answerable for its memory and for its file, once", () => {
  const ledger = ledgerOf(10);
  const [first, second] = [1 as WorkerId, 2 as WorkerId];
  const { id } = ledger.seal(reserve(ledger, 2), 2 * PAGE, 1, 0, "program", first);
  ledger.evict(id);
  ledger.written(id, { file: 1, offset: 0, stored: 700, codec: "none" });
  ledger.restore(id);
  ledger.restored(id);
  ledger.entrust(id, second);
  expect([first, second].map((worker) => ledger.managed(worker))).toEqual([0, 2 * PAGE]);
  expect([first, second].map((worker) => ledger.spilled(worker))).toEqual([0, 700]);
  ledger.assertConsistent();
  ledger.release(id, "program");
  expect(ledger.managed(second) + ledger.spilled(second)).toBe(0);
  ledger.assertConsistent();
});
