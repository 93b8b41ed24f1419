/**
 * What the session may have of the node at this moment. It is planned with all of it; other sessions on the node and
 * what the program itself holds take their part. From the memory in force follow the store's capacity in force, the
 * number of workers, their limits, the size of new blocks (src/memory/allotment.ts) and the wide kernel's lease. The
 * store shrinks by giving back empty pages and by spilling, workers end when they have no task, and limits apply to
 * workers that start. What is taken away is taken before the system has to choose a process.
 */
import { allot, fixedShares } from "../../memory/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { type State, tellNotice, watch } from "../state/index.ts";
import { spillBeyond } from "../store/index.ts";
import { setMemoryLimit } from "./memory-limit.ts";
import { hasInstance } from "./raised.ts";
import { dismiss, withoutTask } from "./workers.ts";

/** Smaller changes of the memory in force, as a share of the plan, change nothing. */
const NOTABLE = 1 / 32;
/** Workers are replaced for another heap only if it differs by this factor: a start costs more than a little memory. */
const OTHER_HEAP = 4 / 3;
/** How much the store's capacity in force grows at a time when nothing could go on without. */
const LIFT = 1 / 8;
/** Other sessions take their part, or give it back. `memory`: what is left for this one. */
export function nodeShare(state: State, memory: Bytes, sessions: number): void {
  const { share } = state.memory;
  const isNew = sessions > 1 && (share.sessions <= 1 || !share.isTold);
  share.given = memory;
  share.sessions = sessions;
  settleAllotment(state);
  if (!isNew) return;
  share.isTold = true;
  const { inForce, plan } = share;
  if (plan === null) return;
  const { store, workers } = inForce;
  tellNotice(state, {
    kind: "sharesNode",
    sessions: sessions - 1,
    memory: inForce.memory,
    of: plan.memory,
    store,
    workers,
  });
}

/** Works out the memory in force anew: the share has changed, or the processes were measured. */
export function settleAllotment(state: State): void {
  const { share, processes } = state.memory;
  const { plan } = share;
  if (plan === null) return;
  const held = processes.program.private + processes.supervisor.private;
  share.program = Math.max(0, held - Math.min(plan.overhead, fixedShares.program));
  const memory = Math.min(plan.memory, share.given) - share.program;
  const isWhole = memory >= plan.memory * (1 - NOTABLE);
  const next = isWhole ? plan.memory : memory;
  const before = share.inForce;
  if (next === before.memory || (!isWhole && Math.abs(next - before.memory) < plan.memory * NOTABLE)) {
    limitStore(state);
    return;
  }
  share.inForce = allot(plan, next);
  limitStore(state);
  limitWorkers(state, before.memory < plan.memory && isWhole);
  const { store, workers } = share.inForce;
  const { sessions, program } = share;
  watch(state, { type: "nodeShare", memory: next, of: plan.memory, sessions, program, store, workers });
}

/** Also takes back what the store was given because nothing could go on. */
function limitStore(state: State): void {
  const { inForce } = state.memory.share;
  const punch = state.ledger.limit(inForce.store);
  if (punch.length > 0) state.commands.push({ type: "punch", ranges: punch });
}

function limitWorkers(state: State, isWholeAgain: boolean): void {
  const { limit, heap } = state.memory.share.inForce;
  const now = state.memory.heapLimit;
  if (limit === null || heap === null || now === null || heap === now) return;
  if (!isWholeAgain && Math.max(heap / now, now / heap) < OTHER_HEAP) return;
  setMemoryLimit(state, limit, heap);
  state.commands.push({ type: "workerLimits", limit, heap });
}

/** The user has set another limit: it holds whatever the share is, unless it follows from the memory. */
export function limitsGiven(state: State, limit: Bytes | null, heap: Bytes | null, isAutomatic: boolean): void {
  const { share } = state.memory;
  if (share.plan === null) return;
  share.plan = { ...share.plan, limit: isAutomatic ? limit : null, heap: isAutomatic ? heap : null };
  share.inForce = allot(share.plan, share.inForce.memory);
}

/** Called with every event: blocks above the capacity in force and workers above their number go. */
export function settleShare(state: State): void {
  const { plan, inForce } = state.memory.share;
  if (plan === null || inForce.memory === plan.memory) return;
  spillBeyond(state);
  endBeyond(state, inForce.workers);
}

function endBeyond(state: State, wanted: number): void {
  let extra = 0 - wanted;
  for (const { phase } of state.workers.values()) if (phase !== "stopping") extra += 1;
  for (const worker of extra > 0 ? withoutTask(state) : []) {
    if (extra <= 0) return;
    if (hasInstance(worker)) continue;
    extra -= 1;
    dismiss(state, worker);
  }
}

/** Nothing can go on for lack of room: the store gets a part of its capacity back. False if it has all of it. */
export function liftLimit(state: State): boolean {
  const { ledger } = state;
  if (ledger.inForce >= ledger.capacity) return false;
  const taken = ledger.live + ledger.lent;
  const punch = ledger.limit(Math.max(ledger.inForce, taken) + ledger.capacity * LIFT);
  if (punch.length > 0) state.commands.push({ type: "punch", ranges: punch });
  return true;
}
