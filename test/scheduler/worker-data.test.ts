/** Workers with worker data, which manages its own memory: the ladder leaves that memory alone. */
import { expect, test } from "vitest";
import type { WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, ScriptedSession, splits } from "./scripted-session.ts";

const LIMIT = 100 * PAGE;
const MEMORY = settings();

/** Worker 1 has worker data, and hands over so many pages, which the program keeps. */
function worksWith(data: { bytes: number; evicts: boolean }, pages: number, memory = MEMORY): ScriptedSession {
  const session = new ScriptedSession(2, 400, { memory, workerMemory: LIMIT, managedTarget: 60 * PAGE });
  session.put();
  session.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), pages + 10);
  session.says(1, { type: "workerData", ...data });
  for (let i = 0; i < pages; i++) {
    session.asks(1);
    session.handsOver(1);
  }
  session.program({ type: "keep", blocks: session.wasTold("output").map(({ slice }) => slice.block.id) });
  return session;
}

const evictions = (session: ScriptedSession) =>
  session.toWorker(1).flatMap((message) => (message.type === "evict" ? [message.bytes] : []));

test.each([false, true])("[K14] target steps back for a worker that has worker data (evicts: %s)", (evicts) => {
  const session = worksWith({ bytes: 10, evicts }, 65);
  expect(session.scheduler.ledger.managed(1 as WorkerId)).toBe(65 * PAGE);
  expect(session.spilled).toEqual([]);
});

test("[K14] spill steps back, too: neither blocks leave nor is worker data asked that cannot free memory", () => {
  const session = worksWith({ bytes: 30 * PAGE, evicts: false }, 20);
  session.reads({ 1: 55 * PAGE });
  expect([session.spilled, evictions(session)]).toEqual([[], []]);
  // Pause stays.
  session.reads({ 1: 61 * PAGE });
  expect(session.events).toMatchObject([{ type: "pressure", to: "paused" }]);
});

test("[K14] with fast and evict() spill stays alive: above it, not at it, blocks leave and evict() is asked for the rest", () => {
  const session = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  session.reads({ 1: 70 * PAGE });
  expect(evictions(session)).toEqual([]);
  session.reads({ 1: 72 * PAGE });
  // Until it is below its target of 60 pages.
  expect(evictions(session)).toEqual([12 * PAGE + 1]);
});

test("[K14] worker data is asked once until more is known, and no more when it is below", () => {
  const session = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  session.reads({ 1: 72 * PAGE });
  session.tell({ type: "tick" });
  expect(evictions(session)).toEqual([12 * PAGE + 1]);
  session.reads({ 1: 65 * PAGE });
  expect(evictions(session)).toEqual([12 * PAGE + 1, 5 * PAGE + 1]);
  session.reads({ 1: 59 * PAGE });
  session.tell({ type: "tick" });
  expect(evictions(session)).toHaveLength(2);
  // Between target and spill it is left alone.
  session.reads({ 1: 70 * PAGE });
  expect(evictions(session)).toHaveLength(2);
});

test("[K14] without a target worker data is asked for what brings its worker below spill", () => {
  const session = worksWith({ bytes: 60 * PAGE, evicts: true }, 0, settings({ target: false }));
  session.reads({ 1: 72 * PAGE });
  expect(evictions(session)).toEqual([2 * PAGE + 1]);
});

test("[K14] what worker data says counts before the next reading, for all but the end of the process", () => {
  const session = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  session.reads({ 1: 65 * PAGE });
  session.says(1, { type: "workerData", bytes: 67 * PAGE, evicts: true });
  expect(evictions(session)).toEqual([12 * PAGE + 1]);
  session.says(1, { type: "workerData", bytes: 54 * PAGE, evicts: true });
  expect(evictions(session)).toHaveLength(1);
  session.says(1, { type: "workerData", bytes: 99 * PAGE, evicts: true });
  expect(session.commands.filter(({ type }) => type === "terminate")).toEqual([]);
  session.reads({ 1: 96 * PAGE });
  expect(session.commands.filter(({ type }) => type === "terminate")).toHaveLength(1);
});

test("[K14] empty worker data is not asked", () => {
  const session = worksWith({ bytes: 0, evicts: true }, 0);
  session.reads({ 1: 75 * PAGE });
  expect(evictions(session)).toEqual([]);
});

test("[K14] one that has nothing more to let go of is not asked again before it has changed or a task has left", () => {
  const session = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  session.reads({ 1: 72 * PAGE });
  session.says(1, { type: "nothingToEvict" });
  session.reads({ 1: 73 * PAGE });
  expect(evictions(session)).toHaveLength(1);
  session.says(1, { type: "workerData", bytes: 61 * PAGE, evicts: true });
  expect(evictions(session)).toHaveLength(2);
  session.says(1, { type: "nothingToEvict" });
  session.done(1);
  session.reads({ 1: 73 * PAGE });
  expect(evictions(session)).toHaveLength(3);
});

test("[K14] a paused worker whose worker data can free nothing more is trimmed and replaced: nobody waits for it", () => {
  const session = worksWith({ bytes: 60 * PAGE, evicts: true }, 0);
  session.reads({ 1: 85 * PAGE });
  session.done(1);
  session.now += 100;
  const trims = () => session.toWorker(1).filter(({ type }) => type === "trim");
  expect(trims()).toEqual([]);
  session.says(1, { type: "nothingToEvict" });
  expect(trims()).toHaveLength(1);
  session.says(1, {
    type: "trimmed",
    request: null,
    report: { worker: 1 as WorkerId, before: 1, after: 1, skipped: [] },
    heap: { used: 0, limit: PAGE },
  });
  session.now += 100;
  session.reads({ 1: 85 * PAGE });
  const why =
    "its worker data (data) holds 240 KiB of its 400 KiB, and frees no more; with more memory (memoryLimit) it would stay";
  expect(session.happened("recycled")).toMatchObject([{ worker: 1, why }]);
});

test("[K14] what it holds is managed memory", () => {
  const managedOnly = worksWith({ bytes: 50 * PAGE, evicts: true }, 0, { ...MEMORY, measure: "managed" });
  managedOnly.reads({ 1: 90 * PAGE });
  expect(evictions(managedOnly)).toEqual([]);
  managedOnly.says(1, { type: "workerData", bytes: 72 * PAGE, evicts: true });
  expect(evictions(managedOnly)).toEqual([12 * PAGE + 1]);
});
