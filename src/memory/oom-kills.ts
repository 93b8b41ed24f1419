/**
 * How often the system's OOM killer has struck. A kill counts in the group of its victim (version 1), or in that group
 * and all around it (version 2), whichever limit was hit. The machine counts every kill, those in groups too. So a kill
 * in this container raises both figures, and a kill elsewhere raises only the machine's. The system does not say whose
 * process was killed. A kill that the process's own group did not count was not of this session: other containers of
 * the machine are killed, too.
 */
import { join } from "node:path";
import type { LimitingGroup, MemoryGroup } from "./groups.ts";
import { statistic } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export interface OomKills {
  readonly container: number;
  readonly machine: number;
  /** Kills that may have hit this session: those in the group of this process, or all if no group counts them. */
  readonly ours: number;
}

const COUNTERS = { 1: "memory.oom_control", 2: "memory.events" } as const;

/**
 * Without a limiting group there is no container: every kill counts as the machine's. `groups`: from the process's own
 * group outwards.
 */
export function oomKills(limiting: LimitingGroup | null, groups: readonly MemoryGroup[], read: ReadText): OomKills {
  const container = limiting === null ? 0 : killsIn(limiting, read);
  const machine = countIn("/proc/vmstat", read) ?? 0;
  let ours: number | null = null;
  for (const { version, path } of groups) ours ??= countIn(join(path, COUNTERS[version]), read);
  return { container, machine, ours: ours ?? machine };
}

function killsIn(group: LimitingGroup, read: ReadText): number {
  const counted = group.version === 2 ? [group] : group.inside;
  return counted.reduce((kills, { version, path }) => kills + (countIn(join(path, COUNTERS[version]), read) ?? 0), 0);
}

/** Null: this group does not count kills. */
function countIn(path: string, read: ReadText): number | null {
  return statistic(read(path), "oom_kill");
}
