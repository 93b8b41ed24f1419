/**
 * Asks the program to collect its garbage. The blocks of an unreferenced dataset stay until the program's garbage
 * collector runs, and a full store does not make it run. The program is asked when room has to be made while it keeps
 * much of the store, and once more before anything fails for lack of room.
 */
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import { type State, tell } from "../state/index.ts";

/** Share of the store: for less, a collection is not worth its time. */
const WORTH_IT = 1 / 16;
/** Collections take this share of the program's time at most. */
const SHARE = 0.05;
const PAUSE: Milliseconds = 1_000;
/** After several collections that freed nothing: the program still refers to what it keeps. */
const LONGEST_PAUSE: Milliseconds = 60_000;

/** Room has to be made. No task waits for the answer. */
export function askToCollect(state: State): void {
  const { isAsked, answeredAt, pause } = state.store.collection;
  if (!isAsked && state.now >= answeredAt + pause && isWorthIt(state)) ask(state);
}

/** Nothing has gone on since `since`. True while a collection may still help: the program has been asked. */
export function mayCollectSince(state: State, since: Milliseconds): boolean {
  const { collection } = state.store;
  if (!collection.isAsked && collection.answeredAt < since && isWorthIt(state)) ask(state);
  return collection.isAsked;
}

/** The program leaves too little memory for any work: its garbage may be the cause. */
export function collectForProgram(state: State): void {
  if (!state.store.collection.isAsked) ask(state);
}

export function collected(state: State, took: Milliseconds): void {
  const { collection } = state.store;
  const found = keptBytes(state) < collection.keptBefore;
  collection.isAsked = false;
  collection.answeredAt = state.now;
  collection.pause = Math.min(LONGEST_PAUSE, Math.max(PAUSE, took / SHARE, found ? 0 : 2 * collection.pause));
}

function ask(state: State): void {
  state.store.collection.isAsked = true;
  state.store.collection.keptBefore = keptBytes(state);
  tell(state, { type: "collect" });
}

function isWorthIt(state: State): boolean {
  return keptBytes(state) >= state.ledger.capacity * WORTH_IT;
}

/** What the program holds and does not read at this moment. */
function keptBytes({ ledger, flow: { unreadBytes } }: State): Bytes {
  return ledger.holds("program").bytes - unreadBytes;
}
