/** A bar of "Bytes stored": its kinds of memory, its colour and its marks. */
import type { Kinds, SessionCard, TotalsCard, WorkerCard } from "../../api.ts";
import { bytes, exactBytes, percent } from "../format.ts";
import type { TipRow } from "../parts/tip.tsx";

type Colour = WorkerCard["colour"];

export interface Bar {
  readonly id: string;
  readonly name: string;
  readonly colour: Colour;
  readonly state: string;
  readonly kinds: Kinds;
  readonly limit: number | null;
  readonly marks: readonly Mark[];
}

/** What happens where a bar reaches a size. */
interface Mark {
  /** Also the class of its line. */
  readonly name: string;
  readonly at: number;
  readonly words: TipRow;
}

/** The steps of a worker's memory ladder, as shares of its limit. */
export type Steps = readonly (readonly [name: string, share: number])[];

const NONE: Kinds = { process: 0, managed: 0, unmanaged: 0, recent: 0, spilled: 0 };

export function stepsOf(session: SessionCard | null): Steps {
  const found = Object.entries(session?.thresholds ?? {});
  return found.flatMap(([name, share]) => (share === false ? [] : [[name, share] as const]));
}

export function workerBar(worker: WorkerCard, steps: Steps): Bar {
  const { id, kind, kinds, limit, colour } = worker;
  const name = kind === "wide" ? `wide ${id}` : `worker ${id}`;
  // The wide kernel has a limit and no ladder.
  const marks = limit === null || kind === "wide" ? [] : steps.map(([step, share]) => stepMark(step, share, limit));
  return {
    id: String(id),
    name,
    colour,
    state: stateWords(worker),
    kinds: kinds ?? NONE,
    limit,
    marks,
  };
}

function stepMark(name: string, share: number, limit: number): Mark {
  const at = share * limit;
  return { name, at, words: [`${name} at`, `${percent(share)}, ${bytes(at)}`] };
}

/** Where blocks alone, a part of the managed memory, would fill the store: further blocks go to disk. */
function capacityMark({ store: { capacity, resident } }: TotalsCard): Mark {
  const words = `${bytes(capacity)}; ${bytes(resident)} of blocks in memory`;
  return { name: "capacity", at: capacity, words: ["The store is full at", words] };
}

export function sessionBar(totals: TotalsCard, workers: readonly WorkerCard[]): Bar {
  const has = (colour: Colour) => workers.some((worker) => worker.colour === colour);
  const colour = workers.length > 0 && workers.every((worker) => worker.colour === "red") ? "red" : "blue";
  const state = has("red") ? "some workers are paused" : has("orange") ? "some workers may be spilling" : "normal";
  const limits = workers.map(({ limit }) => limit);
  const limit = limits.length === 0 ? null : limits.reduce<number | null>((sum, one) => add(sum, one), 0);
  const isOrange = colour === "blue" && has("orange") && workers.every((worker) => worker.colour !== "blue");
  return {
    id: "session",
    name: "session",
    colour: isOrange ? "orange" : colour,
    state,
    kinds: totals.kinds,
    limit,
    marks: [capacityMark(totals)],
  };
}

function add(sum: number | null, limit: number | null): number | null {
  return sum === null || limit === null ? null : sum + limit;
}

const PRESSURES: Readonly<Record<WorkerCard["pressure"], string>> = {
  normal: "normal",
  spilling: "spilling",
  paused: "paused: no task starts in it",
  terminating: "about to be ended",
};

export function stateWords({ pressure, colour, phase }: WorkerCard): string {
  if (pressure === "normal" && colour === "orange") return "may be spilling";
  if (pressure === "normal" && colour === "red") return phase === "retiring" ? "retiring" : "paused or retiring";
  return PRESSURES[pressure];
}

/**
 * When all bars are shorter than this share of their limits, the scale ends before the limits, so the bars look larger.
 */
const SHORT = 0.25;
const ABOVE_FULLEST = 1.25;

/** The end of the scale: the largest limit, or somewhat more than the fullest bar. Marks beyond it are not drawn. */
export function scaleOf(bars: readonly Bar[]): number {
  const fullest = bars.reduce((most, { kinds }) => Math.max(most, kinds.process + kinds.spilled), 1);
  const limit = bars.reduce((most, bar) => Math.max(most, bar.limit ?? 0), 0);
  return fullest < limit * SHORT ? fullest * ABOVE_FULLEST : Math.max(fullest, limit);
}

/** In words, what lies beyond the end of the scale; null when nothing does. */
export function beyond(bars: readonly Bar[], scale: number): string | null {
  const limits = bars.flatMap(({ limit }) => (limit !== null && limit > scale ? [limit] : []));
  if (limits.length === 0) return null;
  const lowest = Math.min(...limits);
  const highest = Math.max(...limits);
  const words = lowest === highest ? bytes(lowest) : `${bytes(lowest)} to ${bytes(highest)}`;
  return `Bars of workers go to ${bytes(scale)}; limits of ${words} lie beyond.`;
}

export function tipRows({ kinds, limit, state, colour, marks }: Bar): readonly TipRow[] {
  return [
    ["State", state],
    [
      "Process",
      limit === null ? exactBytes(kinds.process) : `${exactBytes(kinds.process)}, ${share(kinds.process, limit)}`,
    ],
    ["Managed", exactBytes(kinds.managed), `${colour} managed`],
    ["Unmanaged", exactBytes(kinds.unmanaged), `${colour} unmanaged`],
    ["Unmanaged, recent", exactBytes(kinds.recent), `${colour} recent`],
    ["Spilled, on disk", exactBytes(kinds.spilled), "spilled"],
    ["Limit", limit === null ? "none" : exactBytes(limit)],
    ...marks.map(({ words }) => words),
  ];
}

function share(part: number, whole: number): string {
  return whole > 0 ? `${percent(part / whole)} of its limit` : "no limit";
}
