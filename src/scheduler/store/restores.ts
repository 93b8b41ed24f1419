/** Blocks on their way back from disk: orders to the disks, and their answers. */
import type { WireError } from "../../errors/index.ts";
import type { BlockId } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import type { State } from "../state/index.ts";
import { diskRefused, type Leaving } from "./spill.ts";
import { takeRoom } from "./taking.ts";

/** True if the block, or room for it, is on its way. */
export function restore(state: State, id: BlockId, leaving: Leaving): boolean {
  const { ledger, store } = state;
  const order = takeRoom(state, wholePages(ledger.lengthOf(id)), leaving, () => ledger.restore(id));
  if (order === "none" || order === "coming") return order === "coming";
  store.restoring.add(id);
  if (order.punch.length > 0) state.commands.push({ type: "punch", ranges: order.punch });
  state.commands.push({ type: "restore", block: order.order });
  return true;
}

export function restoreDone(state: State, id: BlockId): void {
  state.store.restoring.delete(id);
  state.ledger.restored(id);
}

export function restoreFailed(state: State, id: BlockId, error: WireError): void {
  state.store.restoring.delete(id);
  state.ledger.notRestored(id);
  diskRefused(state, error, true);
}

/** The restored block differs from the written one. False when the block has no references any more. */
export function restoreDamaged(state: State, id: BlockId): boolean {
  state.store.restoring.delete(id);
  state.ledger.damaged(id);
  return state.ledger.has(id);
}
