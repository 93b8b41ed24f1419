/**
 * The program's own memory. Between two readings a program can take more than is free, and the system would then end a
 * process of its own choice. So the part of the library that runs in the program asks before the program goes on, each
 * time it has grown by a step, and the answer waits until there is room: empty pages of the store go back to the
 * system, blocks go to disk, workers that are ending are awaited, and above its threshold the node's monitor ends a
 * worker. An answer never waits for work to be done, because the work may wait for the program.
 */
import { OutOfMemoryError, toWire } from "../../errors/index.ts";
import { leastMemory } from "../../memory/index.ts";
import type { Bytes, Milliseconds, NodeMemory } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { failJob } from "../phases/index.ts";
import { type State, tell } from "../state/index.ts";
import { collectForProgram, spillAny } from "../store/index.ts";
import { watchNode } from "./monitor.ts";
import { settleAllotment } from "./share.ts";

/** Left free below the monitor's threshold: what workers and the program may take before the next reading. */
const RESERVE: Bytes = 32 * 2 ** 20;
const RESERVE_SHARE = 1 / 16;
/** The program may grow by this part of what is free, and by so much in any case, before it asks again. */
const STEP_SHARE = 1 / 4;
const LEAST_STEP: Bytes = 4 * 2 ** 20;
/** The longest that an answer waits. */
const LONGEST_WAIT: Milliseconds = 5_000;
/** Jobs fail if the program has left too little for them for this long, and its garbage was collected meanwhile. */
const PATIENCE: Milliseconds = 1_000;
/** From this share of the node on, memory is short. */
const SHORT = 0.9;

/** The program has grown, and waits. `node`: as it was measured just now. */
export function programHolds(state: State, request: number, bytes: Bytes, node: NodeMemory): void {
  const { memory } = state;
  memory.processes = { ...memory.processes, program: { ...memory.processes.program, private: bytes } };
  memory.share.ask = { request, bytes, since: state.now };
  settleAllotment(state);
  watchNode(state, node);
  failIfProgramHoldsAll(state);
}

/** Whether the program waits for an answer: the node is then measured more often. */
export function isProgramWaiting({ memory: { share } }: State): boolean {
  return share.ask !== null;
}

/** Called with every event. */
export function answerProgram(state: State): void {
  const { ask, hopelessSince } = state.memory.share;
  const { node } = state.memory;
  // What is about to be found out: whether its garbage is the cause, or its jobs fail.
  if (ask === null || node === null || hopelessSince !== null) return;
  const limit = (state.options.memory?.memoryUsageThreshold ?? 1) * node.total;
  const free = limit - node.used;
  const reserve = Math.min(RESERVE, node.total * RESERVE_SHARE);
  const isLate = state.now - ask.since >= LONGEST_WAIT;
  if (free < reserve && !isLate && isMakingRoom(state, reserve - free)) return;
  state.memory.share.ask = null;
  const until = ask.bytes + Math.max(LEAST_STEP, free * STEP_SHARE);
  tell(state, { type: "roomMade", request: ask.request, until });
}

/** True while memory is about to become free. */
function isMakingRoom(state: State, bytes: Bytes): boolean {
  const { ledger } = state;
  if (state.memory.ending.size > 0 || state.store.writing > 0) return true;
  for (const { phase } of state.workers.values()) if (phase === "stopping") return true;
  const punch = ledger.giveBack(bytes);
  if (punch.length > 0) {
    state.commands.push({ type: "punch", ranges: punch });
    return true;
  }
  return spillAny(state, bytes);
}

/**
 * Called after a reading. The program alone leaves too little for a worker and the store, and memory has become short:
 * jobs end with the figures, and the program lives on.
 */
export function failIfProgramHoldsAll(state: State): void {
  const { share, node, processes } = state.memory;
  const { plan } = share;
  if (plan === null || node === null || state.jobs.size === 0 || plan.memory - share.program >= leastMemory(plan)) {
    share.hopelessSince = null;
    return;
  }
  if (share.hopelessSince === null) {
    if (node.used <= SHORT * node.total) return;
    share.hopelessSince = state.now;
    collectForProgram(state);
  }
  if (state.store.collection.isAsked || state.now - share.hopelessSince < PATIENCE) return;
  share.hopelessSince = null;
  const held = processes.program.private;
  const left = Math.max(0, plan.memory - share.program - plan.overhead);
  const needed = leastMemory(plan) - plan.overhead;
  const remedies = [
    "keep less in the program: write results to files, or take fewer rows at a time",
    `a machine or control group with more memory than ${formatSize(node.total)}`,
  ];
  const message =
    `The program itself holds ${formatSize(held)} of the node's ${formatSize(node.total)}, and ${formatSize(node.used)} are in use. ` +
    `${formatSize(left)} are left for work, and one worker and the store need ${formatSize(needed)}. ` +
    `What helps: ${remedies.join("; ")}.`;
  for (const job of state.jobs.values()) {
    const name = job.operators.at(-1)?.spec.name ?? "job";
    failJob(state, job, toWire(new OutOfMemoryError(`${name}: ${message}`, name, "program", held, 0, remedies)));
  }
}
