/** Workers with a container of the user's: its memory is managed by it, so the ladder steps back. */
import { expect, test } from "vitest";
import type { WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, splits, Table } from "./table.ts";

const LIMIT = 100 * PAGE;
const MEMORY = settings();

/** Worker 1 has a container, and hands over so many pages, which the program keeps. */
function worksWith(container: { bytes: number; evicts: boolean }, pages: number, memory = MEMORY): Table {
  const table = new Table(2, 400, { memory, workerMemory: LIMIT, managedTarget: 60 * PAGE });
  table.put();
  table.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), pages + 10);
  table.says(1, { type: "container", ...container });
  for (let i = 0; i < pages; i++) {
    table.asks(1);
    table.handsOver(1);
  }
  table.program({ type: "keep", blocks: table.wasTold("output").map(({ slice }) => slice.block.id) });
  return table;
}

const evictions = (table: Table) =>
  table.toWorker(1).flatMap((message) => (message.type === "evict" ? [message.bytes] : []));

test.each([false, true])("[K14] target steps back for a worker that has a container (evicts: %s)", (evicts) => {
  const table = worksWith({ bytes: 10, evicts }, 65);
  expect(table.scheduler.ledger.managed(1 as WorkerId)).toBe(65 * PAGE);
  expect(table.spilled).toEqual([]);
});

test("[K14] spill steps back, too: neither blocks leave nor is a container asked that cannot let go", () => {
  const table = worksWith({ bytes: 30 * PAGE, evicts: false }, 20);
  table.reads({ 1: 55 * PAGE });
  expect([table.spilled, evictions(table)]).toEqual([[], []]);
  // Pause stays.
  table.reads({ 1: 61 * PAGE });
  expect(table.events).toMatchObject([{ type: "pressure", to: "paused" }]);
});

test("[K14] with fast and evict() spill stays alive: above it, not at it, blocks leave and evict() is asked for the rest", () => {
  const table = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  table.reads({ 1: 70 * PAGE });
  expect(evictions(table)).toEqual([]);
  table.reads({ 1: 72 * PAGE });
  // Until it is below its target of 60 pages.
  expect(evictions(table)).toEqual([12 * PAGE + 1]);
});

test("[K14] a container is asked once until more is known, and no more when it is below", () => {
  const table = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  table.reads({ 1: 72 * PAGE });
  table.tell({ type: "tick" });
  expect(evictions(table)).toEqual([12 * PAGE + 1]);
  table.reads({ 1: 65 * PAGE });
  expect(evictions(table)).toEqual([12 * PAGE + 1, 5 * PAGE + 1]);
  table.reads({ 1: 59 * PAGE });
  table.tell({ type: "tick" });
  expect(evictions(table)).toHaveLength(2);
  // Between target and spill it is left alone.
  table.reads({ 1: 70 * PAGE });
  expect(evictions(table)).toHaveLength(2);
});

test("[K14] without a target a container is asked for what brings its worker below spill", () => {
  const table = worksWith({ bytes: 60 * PAGE, evicts: true }, 0, settings({ target: false }));
  table.reads({ 1: 72 * PAGE });
  expect(evictions(table)).toEqual([2 * PAGE + 1]);
});

test("[K14] what a container says counts before the next reading, for all but the end of the process", () => {
  const table = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  table.reads({ 1: 65 * PAGE });
  table.says(1, { type: "container", bytes: 67 * PAGE, evicts: true });
  expect(evictions(table)).toEqual([12 * PAGE + 1]);
  table.says(1, { type: "container", bytes: 54 * PAGE, evicts: true });
  expect(evictions(table)).toHaveLength(1);
  table.says(1, { type: "container", bytes: 99 * PAGE, evicts: true });
  expect(table.commands.filter(({ type }) => type === "terminate")).toEqual([]);
  table.reads({ 1: 96 * PAGE });
  expect(table.commands.filter(({ type }) => type === "terminate")).toHaveLength(1);
});

test("[K14] an empty container is not asked", () => {
  const table = worksWith({ bytes: 0, evicts: true }, 0);
  table.reads({ 1: 75 * PAGE });
  expect(evictions(table)).toEqual([]);
});

test("[K14] one that has nothing more to let go of is not asked again before it has changed or a task has left", () => {
  const table = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  table.reads({ 1: 72 * PAGE });
  table.says(1, { type: "spent" });
  table.reads({ 1: 73 * PAGE });
  expect(evictions(table)).toHaveLength(1);
  table.says(1, { type: "container", bytes: 61 * PAGE, evicts: true });
  expect(evictions(table)).toHaveLength(2);
  table.says(1, { type: "spent" });
  table.done(1);
  table.reads({ 1: 73 * PAGE });
  expect(evictions(table)).toHaveLength(3);
});

test("[K14] a paused worker whose container can let go of nothing more is trimmed and replaced: nobody waits for it", () => {
  const table = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  table.reads({ 1: 85 * PAGE });
  table.done(1);
  table.now += 100;
  const trims = () => table.toWorker(1).filter(({ type }) => type === "trim");
  expect(trims()).toEqual([]);
  table.says(1, { type: "spent" });
  expect(trims()).toHaveLength(1);
  table.says(1, {
    type: "trimmed",
    request: null,
    report: { worker: 1 as WorkerId, before: 1, after: 1, skipped: [] },
    heap: { used: 0, limit: PAGE },
  });
  table.now += 100;
  table.reads({ 1: 85 * PAGE });
  const why =
    "its container (data) holds 240 KiB of its 400 KiB, and lets go of no more; with more memory (memoryLimit) it would stay";
  expect(table.happened("recycled")).toMatchObject([{ worker: 1, why }]);
});

test("[K14] what it holds is managed memory", () => {
  const managedOnly = worksWith({ bytes: 50 * PAGE, evicts: true }, 0, { ...MEMORY, measure: "managed" });
  managedOnly.reads({ 1: 90 * PAGE });
  expect(evictions(managedOnly)).toEqual([]);
  managedOnly.says(1, { type: "container", bytes: 72 * PAGE, evicts: true });
  expect(evictions(managedOnly)).toEqual([12 * PAGE + 1]);
});
