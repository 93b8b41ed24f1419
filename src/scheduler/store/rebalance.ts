/**
 * Evens out the blocks that workers are answerable for (K15). Blocks are in shared memory, so nothing is copied: they
 * count for another worker and its limits from then on. Blocks that the program put into the store stay the program's.
 * Blocks of dead workers and of the wide kernel go to workers, because neither of those has an account.
 */
import type { BlockId, BlockMove, Bytes, WorkerId } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { type State, watch } from "../state/index.ts";

/** Share of the larger of two accounts: a smaller difference does not count. */
const EVEN_ENOUGH = 0.05;

interface Account {
  readonly worker: WorkerId;
  bytes: Bytes;
}

export function rebalance(state: State): readonly BlockMove[] {
  const { ledger } = state;
  const accounts = accountsOf(state);
  const moves: BlockMove[] = [];
  const move = (block: BlockId, from: WorkerId | null, to: Account) => {
    const bytes = wholePages(ledger.lengthOf(block));
    ledger.entrust(block, to.worker);
    to.bytes += bytes;
    moves.push({ block, bytes, from, to: to.worker });
  };
  // First the blocks that count for no worker: they may be enough.
  for (const block of movable(state)) {
    const from = ledger.makerOf(block);
    const to = least(accounts);
    if (to !== null && !accounts.has(from) && (from !== null || ledger.isOrphaned(block))) move(block, from, to);
  }
  // Once is enough: after its last block has been looked at, an account is above the least by no more than a block, and
  // the least one only grows.
  for (const block of movable(state)) {
    const from = accounts.get(ledger.makerOf(block));
    const to = least(accounts);
    if (from === undefined || to === null) continue;
    const bytes = wholePages(ledger.lengthOf(block));
    if (from.bytes - to.bytes <= Math.max(bytes, from.bytes * EVEN_ENOUGH)) continue;
    from.bytes -= bytes;
    move(block, from.worker, to);
  }
  const bytes = moves.reduce((sum, one) => sum + one.bytes, 0);
  watch(state, { type: "rebalanced", blocks: moves.length, bytes });
  return moves;
}

/** In memory, and read by nobody. */
function* movable({ ledger }: State): IterableIterator<BlockId> {
  yield* ledger.cold();
  yield* ledger.warm();
}

function accountsOf({ workers, ledger }: State): Map<WorkerId | null, Account> {
  const accounts = new Map<WorkerId | null, Account>();
  for (const { id, phase } of workers.values()) {
    if (phase !== "stopping") accounts.set(id, { worker: id, bytes: ledger.managed(id) });
  }
  return accounts;
}

function least(accounts: ReadonlyMap<WorkerId | null, Account>): Account | null {
  let found: Account | null = null;
  for (const account of accounts.values()) if (found === null || account.bytes < found.bytes) found = account;
  return found;
}
