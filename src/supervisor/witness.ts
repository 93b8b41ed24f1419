/**
 * Gathers the facts about a worker's death: its memory in its last seconds, the counters of the system's OOM killer,
 * and the users of the node's memory. Decides nothing.
 */
import { hostname } from "node:os";
import type { MemoryGauge, OomKills } from "../memory/index.ts";
import type { MemoryUser, Milliseconds, NodeSnapshot, WorkerId } from "../protocol/index.ts";
import type { WorkerEnd } from "../scheduler/index.ts";
import { type Clock, realClock } from "./clock.ts";

const TOP_USERS = 10;
/**
 * OOM kills older than this are not a cause of a death now. Later kills count for every worker that died since: the
 * system may count one kill for several processes.
 */
const SAME_TIME: Milliseconds = 2_000;

export class Witness {
  readonly #gauge: MemoryGauge;
  /** The monitor ends workers above this share; null: there is no monitor. */
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

  /** Reads the counters now and then, so that an old kill is not taken for a new one. */
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

  /** By how much the counters have risen in the last moments, or since they were last read. */
  recentOomKills(): OomKills {
    const now = this.oomKills();
    return risen(this.#counters[0]?.kills ?? now, now);
  }

  /** `names`: names for our own processes. */
  snapshot(names: ReadonlyMap<number, string>): NodeSnapshot {
    const users = this.#gauge.users(TOP_USERS).map((user) => ({ ...user, name: names.get(user.pid) ?? user.name }));
    return { host: hostname(), ...this.#gauge.node(), threshold: this.#threshold, users };
  }
}

/** The node as it was while a now dead process had this much memory. */
export function beforeItsEnd(node: NodeSnapshot, dead: MemoryUser): NodeSnapshot {
  const users = [...node.users.filter(({ pid }) => pid !== dead.pid), dead].sort((a, b) => b.private - a.private);
  return { ...node, used: Math.min(node.total, node.used + dead.private), users: users.slice(0, TOP_USERS) };
}

/** The smaller counts: kills of the last moments that are not older than the worker. */
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
