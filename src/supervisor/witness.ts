/**
 * What was seen before a worker died: its memory in its last seconds, how often the system's OOM killer has struck, and
 * who uses the node's memory. Looks on, decides nothing.
 */
import { hostname } from "node:os";
import type { MemoryGauge, OomKills } from "../memory/index.ts";
import type { MemoryUser, Milliseconds, NodeSnapshot, WorkerId } from "../protocol/index.ts";
import type { WorkerEnd } from "../scheduler/index.ts";
import { type Clock, realClock } from "./clock.ts";

const TOP_USERS = 10;
/**
 * Kills that were counted before this are no part of a death now; those since are, of every worker that died meanwhile:
 * the system may count one kill for several processes.
 */
const SAME_TIME: Milliseconds = 2_000;

export class Witness {
  readonly #gauge: MemoryGauge;
  /** Above this share the monitor ends workers; null: there is none. */
  readonly #threshold: number | null;
  readonly #clock: Clock;
  /** The newest counters from before SAME_TIME, and those since. */
  #counters: { readonly at: Milliseconds; readonly kills: OomKills }[];

  constructor(
    gauge: MemoryGauge,
    threshold: number | null,
    /** A worker's memory in its last seconds. */
    readonly curveOf: (worker: WorkerId) => WorkerEnd["curve"],
    clock: Clock = realClock,
  ) {
    this.#gauge = gauge;
    this.#threshold = threshold;
    this.#clock = clock;
    this.#counters = [{ at: clock.now(), kills: gauge.oomKills() }];
  }

  /** Looked at now and then, so that an old kill is not taken for a new one. */
  look(): void {
    this.oomKills();
  }

  oomKills(): OomKills {
    const now = this.#clock.now();
    const kills = this.#gauge.oomKills();
    this.#counters.push({ at: now, kills });
    while ((this.#counters[1]?.at ?? now) <= now - SAME_TIME) this.#counters.shift();
    return kills;
  }

  /** How much the counters have risen within the last moments, or since somebody last looked. */
  recentOomKills(): OomKills {
    const now = this.oomKills();
    return risen(this.#counters[0]?.kills ?? now, now);
  }

  /** `names`: what we call processes of ours. */
  snapshot(names: ReadonlyMap<number, string>): NodeSnapshot {
    const users = this.#gauge.users(TOP_USERS).map((user) => ({ ...user, name: names.get(user.pid) ?? user.name }));
    return { host: hostname(), ...this.#gauge.node(), threshold: this.#threshold, users };
  }
}

/** The node as it was with a process that is gone now, and had so much when it was last seen. */
export function beforeItsEnd(node: NodeSnapshot, dead: MemoryUser): NodeSnapshot {
  const users = [...node.users.filter(({ pid }) => pid !== dead.pid), dead].sort((a, b) => b.private - a.private);
  return { ...node, used: Math.min(node.total, node.used + dead.private), users: users.slice(0, TOP_USERS) };
}

/** Of both the fewer: kills of the last moments, and not from before the worker was there. */
export function fewer(one: OomKills, other: OomKills): OomKills {
  return {
    container: Math.min(one.container, other.container),
    machine: Math.min(one.machine, other.machine),
    ours: Math.min(one.ours, other.ours),
  };
}

export function risen(before: OomKills, now: OomKills): OomKills {
  return {
    container: now.container - before.container,
    machine: now.machine - before.machine,
    ours: now.ours - before.ours,
  };
}
