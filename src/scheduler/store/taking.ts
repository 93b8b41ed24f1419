/**
 * Takes room in the store for a block. If the room must be made first, it is reserved for the asker: later askers of
 * the same turn do not take it.
 */
import type { Bytes } from "../../protocol/index.ts";
import type { State } from "../state/index.ts";
import { type Leaving, makeRoom } from "./spill.ts";

/** Begins a new turn, in which everybody asks again. */
export function forgetReservedRoom({ store }: State): void {
  store.spokenFor = 0;
}

/**
 * With `leaving` null, no block leaves for it. `take` returns null when it finds no place. "coming": the room is being
 * made.
 */
export function takeRoom<Taken extends object>(
  state: State,
  bytes: Bytes,
  leaving: Leaving | null,
  take: () => Taken | null,
): Taken | "coming" | "none" {
  const { ledger, store } = state;
  const isComing = leaving !== null && makeRoom(state, bytes + store.spokenFor, leaving);
  const taken = ledger.room - store.spokenFor >= bytes ? take() : null;
  if (taken !== null) return taken;
  if (!isComing) return "none";
  store.spokenFor += bytes;
  return "coming";
}
