/**
 * The scheduler: `(state, event) → commands`. No clock, no I/O, no randomness: time comes with the events, and the same
 * events give the same commands. The supervisor runs it with real workers, the simulator with invented ones.
 *
 *   event ──▶ receive changes the state ──▶ settle:    ┌▶ deliver what the program has credit for
 *                                                      │  give room (room.ts), start tasks (dispatch.ts)
 *                                                      │  resolve a stall (stall.ts) ── changed something ─┐
 *                                                      └───────────────────────────────────────────────────┘
 *                                                      then finished jobs end (job.ts) ──▶ commands
 */

import type { Milliseconds, RecordedEvent, Victim } from "../../protocol/index.ts";
import type { Ledger } from "../../store/index.ts";
import { endFailing } from "../jobs/index.ts";
import { isProgramWaiting, nextVictim, pauseDeadline, trimDeadline } from "../memory/index.ts";
import { trialDeadline } from "../needs/index.ts";
import { restDeadline } from "../oom/index.ts";
import { phaseFaults } from "../phases/index.ts";
import { noteHeldBack, stallDeadline, yieldDeadline } from "../placement/index.ts";
import { firstWorkersDeadline, isComplete, startDeadline } from "../starts/index.ts";
import {
  type Command,
  type Event,
  isWide,
  PROGRESS_INTERVAL,
  type SchedulerOptions,
  type State,
} from "../state/index.ts";
import { diskDeadline } from "../store/index.ts";
import { newState } from "./new-state.ts";
import { receive } from "./receive.ts";
import { cancelDeadline, settle } from "./settle.ts";
import { type Standing, standingOf } from "./standing.ts";

const NO_EVENTS: readonly RecordedEvent[] = [];

export class Scheduler {
  readonly #state: State;

  constructor(options: SchedulerOptions) {
    this.#state = newState(options);
  }

  get ledger(): Ledger {
    return this.#state.ledger;
  }

  /** What has happened since they were last taken, oldest first. */
  takeEvents(): readonly RecordedEvent[] {
    const { stream } = this.#state;
    if (stream.events.length === 0) return NO_EVENTS;
    const { events } = stream;
    stream.events = [];
    return events;
  }

  /** For tests and the simulation: what the event stream must come to. */
  standing(): Standing {
    return standingOf(this.#state);
  }

  /** For tests and the simulation: see phases/faults.ts. */
  faults(): readonly string[] {
    return phaseFaults(this.#state);
  }

  /** All wanted workers have connected, except those that wait until a pause is over. */
  get isComplete(): boolean {
    return isComplete(this.#state);
  }

  /** The program waits until there is room for it. */
  get isProgramWaiting(): boolean {
    return isProgramWaiting(this.#state);
  }

  /** Whom the node's monitor would end next. */
  get victim(): Victim | null {
    return nextVictim(this.#state);
  }

  /** Workers were ordered to end for memory and are not gone yet. */
  get isEnding(): boolean {
    return this.#state.memory.ending.size > 0;
  }

  get jobs(): number {
    return this.#state.jobs.size;
  }

  /** When to send a `tick` if nothing else happens before. */
  get alarmAt(): Milliseconds | null {
    const state = this.#state;
    let at = Math.min(
      stallDeadline(state),
      diskDeadline(state),
      restDeadline(state),
      trialDeadline(state),
      pauseDeadline(state),
      trimDeadline(state),
      yieldDeadline(state),
      startDeadline(state),
      firstWorkersDeadline(state),
    );
    for (const task of state.phases.cancelling) {
      at = Math.min(at, cancelDeadline(task));
      if (!isWide(task.operator)) break;
    }
    for (const job of state.jobs.values()) {
      if (job.report.changed && !job.report.told) at = Math.min(at, job.report.progressAt + PROGRESS_INTERVAL);
    }
    return at === Number.POSITIVE_INFINITY ? null : at;
  }

  handle(event: Event, now: Milliseconds): Command[] {
    const state = this.#state;
    state.now = now;
    state.stream.at = Math.round(now * 10) / 10;
    state.ledger.tick();
    receive(state, event);
    // Progress changes figures only: nothing follows from it.
    if (isProgress(event)) return state.commands.splice(0);
    endFailing(state);
    settle(state);
    noteHeldBack(state);
    const places = state.ledger.takeOrphans();
    if (places.length > 0) state.commands.push({ type: "unspill", places });
    return state.commands.splice(0);
  }
}

function isProgress(event: Event): boolean {
  return event.type === "fromWorker" && event.message.type === "progress";
}
