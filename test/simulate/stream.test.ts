/** The event stream of simulated sessions: it says all that the scheduler knows, at every moment. */
import { expect, test } from "vitest";
import { apply, emptyState, type SessionState, snapshotOf, stateOf } from "../../src/events/index.ts";
import type { RecordedEvent } from "../../src/protocol/index.ts";
import type { Scheduler } from "../../src/scheduler/index.ts";
import { KINDS, type KindName } from "./kinds.ts";
import { drawSession, type StoreSize } from "./session.ts";
import { run } from "./simulate.ts";
import type { World } from "./world.ts";

/** What the scheduler itself says, and what a reader of its events makes of them, in the same shape. */
function standings(scheduler: Scheduler, state: SessionState) {
  const { workers, tasks, jobs, blocks } = scheduler.standing();
  const { totals, onDisk } = scheduler.ledger;
  const { spilledBytes, spilled: spilledBlocks, restoredBytes, restored: restoredBlocks } = state.store;
  return {
    own: {
      workers: [...workers].map(([id, worker]) => ({ id, ...worker })).sort(byId),
      tasks: [...tasks].map(([id, task]) => ({ id, ...task })).sort(byId),
      jobs: [...jobs].map(([id, job]) => ({ id, ...job })).sort(byId),
      blocks: [...blocks].map(([id, at]) => ({ id, state: at })).sort(byId),
      store: { ...totals, onDisk },
    },
    read: {
      workers: [...state.workers.values()]
        .map(({ id, phase, pid, task }) => ({ id, phase, pid: pid ?? 0, task }))
        .sort(byId),
      tasks: [...state.tasks.values()].map(({ id, phase, worker }) => ({ id, phase, worker })).sort(byId),
      jobs: [...state.jobs.values()]
        .filter(({ phase }) => phase !== "gone")
        .map(({ id, phase, operators }) => ({
          id,
          phase,
          operators: operators.map(({ ended, heldBy }) => ({ ended, heldBy })),
        }))
        .sort(byId),
      blocks: [...state.blocks.values()].map(({ id, state: at }) => ({ id, state: at })).sort(byId),
      store: { spilledBytes, spilledBlocks, restoredBytes, restoredBlocks, onDisk: state.store.onDisk },
    },
  };
}

function byId({ id: a }: { readonly id: string | number }, { id: b }: { readonly id: string | number }): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As it comes out of a file or a socket. */
function throughJson(state: SessionState): SessionState {
  return stateOf(JSON.parse(JSON.stringify(snapshotOf(state))));
}

function watched(seed: number, kind: KindName, store: StoreSize): number {
  let state = emptyState();
  const late: { readonly state: SessionState; readonly from: number }[] = [];
  let batches = 0;
  let events = 0;
  let world: World | null = null;
  const watch = (batch: readonly RecordedEvent[]) => {
    for (const event of batch) {
      for (const one of late) apply(one.state, event);
      state = apply(state, event);
    }
    events += batch.length;
    if (world === null) return;
    batches += 1;
    // A look at everything, so not every time.
    if (batches % 7 === seed % 7) {
      const { own, read } = standings(world.scheduler, state);
      expect(read).toEqual(own);
    }
    if (batches === 20 || batches === 150) late.push({ state: throughJson(state), from: batches });
  };
  const { world: after } = run(
    drawSession(seed, KINDS[kind], store),
    null,
    (begun) => {
      world = begun;
    },
    watch,
  );
  const { own, read } = standings(after.scheduler, state);
  expect(read).toEqual(own);
  for (const one of late) expect(throughJson(one.state)).toEqual(throughJson(state));
  return events;
}

test.each([
  ["calm", "large"],
  ["storm", "tiny"],
  ["errors", "tiny"],
  ["storm", "large"],
] as const)(
  "[W2] a snapshot and the events after it are the state, in sessions with %s and a %s store",
  (kind, store) => {
    for (let seed = 1; seed <= 60; seed++) expect(watched(seed, kind, store)).toBeGreaterThan(0);
  },
);
