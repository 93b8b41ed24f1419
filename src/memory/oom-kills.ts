/**
 * How often the system's OOM killer has struck. A kill is counted in the group of its victim (version 1) or in that and
 * all around it (version 2), whichever limit was hit; the machine counts every one of them, those of groups too. So a
 * kill in the container moves both figures, one elsewhere only the machine's. Whose kill it was is not said anywhere,
 * but what the process's own group has not counted was none of ours: other containers of a machine are killed, too.
 */
import { join } from "node:path";
import type { LimitingGroup, MemoryGroup } from "./groups.ts";
import { statistics } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export interface OomKills {
  readonly container: number;
  readonly machine: number;
  /**
   * Of those, the ones that may have been of ours: of the group that this process is in, or all where no group counts.
   */
  readonly ours: number;
}

const COUNTERS = { 1: "memory.oom_control", 2: "memory.events" } as const;

/**
 * Without a group that limits there is no container, and every kill is the machine's. `groups`: from the process's own
 * outwards.
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

/** Null: it is not counted there. */
function countIn(path: string, read: ReadText): number | null {
  return statistics(read(path)).get("oom_kill") ?? null;
}
