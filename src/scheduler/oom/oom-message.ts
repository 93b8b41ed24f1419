/**
 * What a user is told about a task that finally ran out of memory: where, how full the node was, what was tried, which
 * processes have the memory, and what to do. Pure text.
 */

import type { MemoryReason } from "../../errors/index.ts";
import type { Bytes, NodeSnapshot } from "../../protocol/index.ts";
import { formatSize, needText } from "../../units/index.ts";
import type { Shortage } from "../state/index.ts";

interface OomStory {
  readonly operator: string;
  readonly task: string;
  readonly pid: number;
  readonly memory: Bytes | null;
  /** The memory that it had at that moment; null when it was never measured. */
  readonly had: Bytes | null;
  /** `causeText`. */
  readonly cause: string;
  /** Why this task was chosen; null when the monitor did not choose it. */
  readonly why: string | null;
  /** Null when the node was not measured. */
  readonly node: (Omit<NodeSnapshot, "host"> & { readonly host: string | null }) | null;
  /** The session's processes and what they do. */
  readonly names: ReadonlyMap<number, string>;
  readonly shortages: readonly Shortage[];
  readonly isWide: boolean;
  /** How its process ended, in figures; null when the process lives on. */
  readonly ending: string | null;
  readonly log: string | null;
  /** The end of the process's log, or the error's text. */
  readonly said: string;
  readonly remedies: readonly string[];
}

export function oomMessage(story: OomStory): string {
  const { operator, task, pid, memory, node, remedies } = story;
  const had = memory === null ? "" : `, ${formatSize(memory)}`;
  return [
    "Task was killed due to the node running low on memory.",
    ...(node === null ? [] : [`  node: ${nodeText(node)}`]),
    `  task: ${operator}, ${task}, process ${pid}${had}`,
    `  cause: ${story.cause}`,
    ...(story.why === null ? [] : [`  chosen: ${story.why}`]),
    ...(story.ending === null ? [] : story.ending.split("\n").map((line) => `  ${line}`)),
    ...attemptLines(story),
    ...userLines(story),
    ...(story.log === null ? [] : [`Its log: cat ${story.log}`]),
    ...saidLines(story.said),
    ...(remedies.length === 0 ? [] : ["What helps, the most promising first:"]),
    ...remedies.map((remedy, i) => `  ${i + 1}. ${remedy}`),
  ].join("\n");
}

/**
 * Says what ended the task. `victim`: the process that the system killed, if it did; `systemKills`: OOM kills during
 * the worker's life.
 */
export function causeText(cause: MemoryReason, limit: Bytes | null, victim: string, systemKills = 0): string {
  switch (cause) {
    case "systemOom":
      return `the system's OOM killer ended ${victim}: the machine had no memory left`;
    case "cgroupOom":
      return `the system's OOM killer ended ${victim}: its control group (container) was at its memory limit`;
    case "monitor":
      return systemKills === 0
        ? "the node's memory monitor ended its worker, before the system would have ended anything"
        : "the node's memory monitor ended its worker; the system's OOM killer had struck elsewhere while it ran";
    case "terminate":
      return `its worker passed the terminate threshold${limit === null ? "" : " of its limit"}${of(limit)}`;
    case "heap":
      return limit === null
        ? "its worker reached V8's own heap limit"
        : `its worker reached its heap limit${of(limit)}`;
    case "allocation":
      return limit === null || limit === Number.POSITIVE_INFINITY
        ? "a function was refused memory: the system has none left"
        : `a function was refused memory: its worker may use at most ${formatSize(limit)}`;
    case "engineMemory":
      return "the kernel ran out of memory";
  }
}

/** The processes that fill the node. */
export function foreignText(foreign: Bytes): string {
  return `processes that are not the session's had ${formatSize(foreign)}`;
}

/** V8 or native code was refused memory and ended the process. */
export function refusedText(limit: Bytes): string {
  return `its worker was refused memory and ended itself: it may use at most ${formatSize(limit)}`;
}

const of = (limit: Bytes | null, word = "of") =>
  limit === null || limit === Number.POSITIVE_INFINITY ? "" : ` ${word} ${formatSize(limit)}`;

function nodeText({ host, used, total, threshold }: NonNullable<OomStory["node"]>): string {
  const ratio = `${formatSize(used)} of ${formatSize(total)} used (${percent(used / total)})`;
  const bound = threshold === null ? "" : `, threshold ${percent(threshold)}`;
  return `${host === null ? "" : `${host}, `}${ratio}${bound}`;
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

function attemptLines({ shortages, isWide }: OomStory): readonly string[] {
  return [
    `  attempts: ${shortages.length}`,
    ...shortages.map(({ need, cause, memory, atOnce, foreign }, i) => {
      const asked = isWide && i > 0 ? "with fewer threads or more memory" : needText({ ...need, memory: null });
      const seen = memory === null ? "" : ` with ${formatSize(memory)}`;
      const beside = atOnce > 1 ? `, ${atOnce} at once` : "";
      const full = foreign === null ? "" : `; ${foreignText(foreign)}`;
      return `    ${i + 1}. ${asked === "" ? `as it was${beside}` : asked}: ${cause}${seen}${full}`;
    }),
  ];
}

/** The victim is always listed, with at least the memory that it was measured with. */
function userLines({ node, names, pid: victim, had }: OomStory): readonly string[] {
  if (node === null) return [];
  const others = node.users.filter(({ pid }) => pid !== victim);
  const seen = node.users.find(({ pid }) => pid === victim)?.private ?? null;
  const most = had === null ? seen : Math.max(had, seen ?? 0);
  const users: readonly { readonly pid: number; readonly name: string; readonly private: Bytes | null }[] = [
    { pid: victim, name: "this task", private: most },
    ...others.slice(0, TOP - 1),
  ];
  const rows = [...users]
    .sort((one, other) => (other.private ?? 0) - (one.private ?? 0))
    .map(({ pid, name, private: bytes }) => ({
      pid: String(pid),
      memory: bytes === null ? "unknown" : formatSize(bytes),
      name: names.get(pid) ?? name,
    }));
  const wide = (key: "pid" | "memory", title: string) => Math.max(title.length, ...rows.map((row) => row[key].length));
  const [pids, sizes] = [wide("pid", "PID"), wide("memory", "MEMORY")];
  const line = (pid: string, memory: string, name: string) =>
    `  ${pid.padStart(pids)}  ${memory.padStart(sizes)}  ${name}`;
  return [
    `Top ${rows.length} memory users:`,
    line("PID", "MEMORY", "PROCESS"),
    ...rows.map((row) => line(row.pid, row.memory, row.name)),
  ];
}

const TOP = 10;

/** Only the end of the log: V8's last output is a page of addresses. */
const MOST_LINES = 12;

function saidLines(said: string): readonly string[] {
  const text = said.trim();
  return text === ""
    ? []
    : [
        "Its last output:",
        ...text
          .split("\n")
          .slice(-MOST_LINES)
          .map((line) => `  ${line}`),
      ];
}
