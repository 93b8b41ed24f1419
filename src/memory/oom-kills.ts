/**
 * How often the system's OOM killer has struck. A kill is counted in the group of its victim (version 1) or in that and all
 * around it (version 2), whichever limit was hit; the machine counts every one of them, those of groups too. So a kill in the
 * container moves both figures, one elsewhere only the machine's.
 */
import { join } from "node:path";
import type { LimitingGroup } from "./groups.ts";
import { statistics } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export interface OomKills {
  readonly container: number;
  readonly machine: number;
}

/** Without a group that limits there is no container, and every kill is the machine's. */
export function oomKills(group: LimitingGroup | null, read: ReadText): OomKills {
  return { container: group === null ? 0 : killsIn(group, read), machine: countIn("/proc/vmstat", read) };
}

function killsIn(group: LimitingGroup, read: ReadText): number {
  if (group.version === 2) return countIn(join(group.path, "memory.events"), read);
  return group.inside.reduce((kills, { path }) => kills + countIn(join(path, "memory.oom_control"), read), 0);
}

function countIn(path: string, read: ReadText): number {
  return statistics(read(path)).get("oom_kill") ?? 0;
}
