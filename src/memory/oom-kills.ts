/**
 * How often the system's OOM killer has struck. A kill is counted in the group of its victim (version 1) or in that and all
 * around it (version 2), whichever limit was hit; the machine counts every one of them, those of groups too. So a kill in the
 * container moves both figures, one elsewhere only the machine's.
 */
import { join } from "node:path";
import type { LimitingGroup, MemoryGroup } from "./groups.ts";
import { statistics } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export interface OomKills {
  readonly container: number;
  readonly machine: number;
  /** In the group that this process is in, container or not; missing: nobody counts there. */
  readonly own?: number;
}

/** Without a group that limits there is no container, and every kill is the machine's. `groups`: from the process's own outwards. */
export function oomKills(group: LimitingGroup | null, groups: readonly MemoryGroup[], read: ReadText): OomKills {
  const own = ownKills(groups, read);
  return {
    container: group === null ? 0 : killsIn(group, read),
    machine: countIn("/proc/vmstat", read) ?? 0,
    ...(own === undefined ? {} : { own }),
  };
}

/** In the innermost group that counts (version 2: memory control begins further out); the root of version 2 does not. */
function ownKills(groups: readonly MemoryGroup[], read: ReadText): number | undefined {
  const innermost = groups.find(({ version }) => version === 1);
  for (const group of groups) {
    const count = group.version === 2 || group === innermost ? countIn(counterOf(group), read) : undefined;
    if (count !== undefined) return count;
  }
  return undefined;
}

function killsIn(group: LimitingGroup, read: ReadText): number {
  if (group.version === 2) return countIn(counterOf(group), read) ?? 0;
  return group.inside.reduce((kills, inner) => kills + (countIn(counterOf(inner), read) ?? 0), 0);
}

function counterOf({ version, path }: MemoryGroup): string {
  return join(path, version === 2 ? "memory.events" : "memory.oom_control");
}

function countIn(path: string, read: ReadText): number | undefined {
  return statistics(read(path)).get("oom_kill");
}
