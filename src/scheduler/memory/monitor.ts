/**
 * The node's monitor (M1): when the machine, or a smaller control group, runs low on memory, it ends workers before
 * Linux's OOM killer picks a process of its own choice. From a little below the threshold on, it first makes the store
 * smaller: unused pages go back to the system, and blocks that do not flow go to disk. It never ends the supervisor or
 * the program.
 */
import type { Bytes, NodeMemory, Victim } from "../../protocol/index.ts";
import { type State, type TaskState, type WorkerState, watch } from "../state/index.ts";
import { spillCold } from "../store/index.ts";
import { foreignPart } from "./bystander.ts";
import { endWorker } from "./ending.ts";

/** Ten seconds of the node with the default interval. */
const CURVE_LENGTH = 40;
/** Distance below the threshold, as a share of the node's memory, from which blocks begin to leave. */
export const RELIEF_MARGIN = 0.05;
/** Blocks that leave at one look: what a disk takes until the next. */
const RELIEF_STEP: Bytes = 64 * 2 ** 20;
/** Ending a process with less does not help: its replacement soon has as much. */
const WORTH_IT: Bytes = 32 * 2 ** 20;

/** What a worker's end costs: a restart; a task's time; a task's last chance. */
const COSTS = ["a restart", "a retry", "the last retry"] as const;
type Cost = (typeof COSTS)[number];

interface Candidate {
  readonly worker: WorkerState;
  readonly private: Bytes;
  readonly cost: Cost;
  /** When its task began. */
  readonly since: number;
}

/** The node was looked at. Without `mayEnd`, another session ends a worker, or is to end one. */
export function watchNode(state: State, node: NodeMemory, mayEnd = true): void {
  keepCurve(state, node);
  const { memory } = state.options;
  if (memory === null || memory.memoryMonitorRefreshMs === 0) return;
  const threshold = memory.memoryUsageThreshold * node.total;
  const returned = relieveNode(state, node.used - (threshold - RELIEF_MARGIN * node.total));
  const excess = node.used - returned - threshold;
  // A victim's memory is free only when its process is gone: no other worker is ended for the same bytes.
  if (excess <= 0 || state.memory.ending.size > 0 || !mayEnd) return;
  const candidates = candidatesOf(state);
  const foreign = foreignPart(state, node.used - returned);
  for (const victim of victimsOf(candidates, excess)) {
    victim.worker.memory.foreign = foreign;
    end(state, node, victim, candidates);
  }
}

/** Whom the monitor would end first; null: nobody. */
export function nextVictim(state: State): Victim | null {
  const candidates = candidatesOf(state);
  const first = candidates.find((one) => one.private >= WORTH_IT) ?? candidates[0];
  return first === undefined ? null : { cost: COSTS.indexOf(first.cost), since: first.since, private: first.private };
}

function keepCurve({ memory, now }: State, node: NodeMemory): void {
  memory.node = node;
  memory.nodeCurve.push([Math.round(now), node.used]);
  if (memory.nodeCurve.length > CURVE_LENGTH) memory.nodeCurve.shift();
}

/** Makes the store smaller by this much, without taking what is in use; returns the bytes that are free at once. */
function relieveNode(state: State, bytes: Bytes): Bytes {
  if (bytes <= 0) return 0;
  const punch = state.ledger.giveBack(bytes);
  if (punch.length > 0) state.commands.push({ type: "punch", ranges: punch });
  const returned = punch.reduce((sum, { length }) => sum + length, 0);
  if (returned < bytes) spillCold(state, Math.min(bytes - returned, RELIEF_STEP));
  return returned;
}

/** In the order in which they would be ended. */
function candidatesOf(state: State): Candidate[] {
  const candidates: Candidate[] = [];
  for (const worker of state.workers.values()) addCandidate(candidates, worker);
  if (state.phases.wide !== null) addCandidate(candidates, state.phases.wide);
  return candidates.sort(
    (a, b) => COSTS.indexOf(a.cost) - COSTS.indexOf(b.cost) || b.since - a.since || b.private - a.private,
  );
}

function addCandidate(candidates: Candidate[], worker: WorkerState): void {
  const { phase, task } = worker;
  const { reading } = worker.memory;
  if (reading === null) return;
  if (phase === "busy" && task !== null) {
    candidates.push({ worker, private: reading.private, cost: costOf(task), since: task.run.startedAt });
  } else if (phase === "idle" && worker.recycling.history.tasks > 0 && reading.private >= WORTH_IT) {
    // A worker without a first task has nothing to give back: its replacement would have the same.
    candidates.push({ worker, private: reading.private, cost: "a restart", since: 0 });
  }
}

function costOf(task: TaskState): Cost {
  if (task.cancel.at !== null) return "a restart";
  return isRetriable(task) ? "a retry" : "the last retry";
}

function isRetriable({ operator: { spec }, oom: { shortages } }: TaskState): boolean {
  return spec.kind === "tasks" && shortages.length < spec.maxOomRetries;
}

/** Enough workers to get below the threshold, and none in vain. */
function victimsOf(candidates: readonly Candidate[], excess: Bytes): readonly Candidate[] {
  const victims: Candidate[] = [];
  let freed = 0;
  for (const one of candidates) {
    if (freed > excess) break;
    if (one.private < WORTH_IT) continue;
    victims.push(one);
    freed += one.private;
  }
  // No worker has much: end one at a time, in case this is enough.
  if (victims.length === 0) return candidates.slice(0, 1);
  for (const one of [...victims].sort((a, b) => a.private - b.private)) {
    if (freed - one.private <= excess) break;
    victims.splice(victims.indexOf(one), 1);
    freed -= one.private;
  }
  return victims;
}

function end(state: State, { used, total }: NodeMemory, victim: Candidate, candidates: readonly Candidate[]): void {
  const { worker } = victim;
  const operator = worker.task?.operator.spec ?? null;
  const why = reasonFor(victim, candidates);
  endWorker(state, worker, why);
  state.commands.push({ type: "kill", worker: worker.id, reason: "monitor" });
  watch(state, {
    type: "monitorKill",
    worker: worker.id,
    pid: worker.pid,
    used,
    total,
    private: victim.private,
    operator: operator?.kind === "tasks" ? operator.name : null,
    why,
  });
}

function reasonFor({ worker, cost, since }: Candidate, candidates: readonly Candidate[]): string {
  if (worker.task === null) return "it was idle, and its end costs no more than a restart";
  if (cost === "a restart") return "its task had been cancelled";
  const others = candidates.filter((one) => one.cost === cost && one.worker !== worker);
  const newer = others.filter((one) => one.since > since).length;
  const place =
    others.length === 0 ? "it was the only one" : newer === 0 ? "it began last" : `all but ${newer} began before it`;
  const chance = cost === "a retry" ? "its task can be tried again" : "no task that can be tried again frees enough";
  return `${chance}; of ${others.length + 1} like it, ${place}`;
}
