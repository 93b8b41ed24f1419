/** One recording in the profiling thread: its curve, its moments, and the file made from them. */
import type { ProfileFile, ProfileNode, ProfileView } from "./format.ts";
import { VERSION } from "./format.ts";
import type { MemoryNow } from "./own-memory.ts";
import type { Positions } from "./positions.ts";
import type { Demand, NewStack, Recorded, Snapshot } from "./snapshot.ts";
import { type Baseline, lastOrdinal, type Moment, ownBytes, treeOf } from "./tree.ts";

/** Points of the curve. When there are more, every second point is dropped. */
const MOST_POINTS = 1000;
/** Moments beside the peak, the end and what leaked. */
const MOST_MOMENTS = 6;
const FIRST_STEP = 500;

export class Recording {
  readonly baseline: Baseline;
  peak: Moment;
  /** True when the recording holds something that the file lacks. */
  isNew = true;
  isOpen = true;
  #highest = 0;
  #last: Moment;
  #moments: Moment[] = [];
  #momentStep = FIRST_STEP;
  readonly #curve: (readonly [number, number])[] = [];
  #pointStep = 0;

  constructor(
    readonly id: number,
    readonly recorded: Recorded,
    readonly demand: Demand | null,
    snapshot: Snapshot,
    memory: MemoryNow,
  ) {
    this.baseline = { ordinal: lastOrdinal(snapshot), buffer: snapshot.lastBuffer, snapshot, memory };
    this.peak = { snapshot, memory };
    this.#last = this.peak;
    this.look(snapshot.at, memory);
  }

  get started(): number {
    return this.baseline.snapshot.at;
  }

  /** Adds a point to the curve. */
  look(at: number, memory: MemoryNow): void {
    const time = Math.max(0, Math.round(at - this.started));
    const last = this.#curve.at(-1);
    if (last !== undefined && time - last[0] < this.#pointStep) return;
    this.#curve.push([time, memory.private]);
    if (this.#curve.length <= MOST_POINTS) return;
    const kept = this.#curve.filter((_, i) => i % 2 === 0);
    this.#curve.splice(0, this.#curve.length, ...kept);
    this.#pointStep = (time / MOST_POINTS) * 2;
  }

  /** Bytes of the recording's own objects and buffers at the peak. */
  get highest(): number {
    return this.#highest;
  }

  grown(snapshot: Snapshot, memory: MemoryNow): void {
    const moment = { snapshot, memory };
    this.look(snapshot.at, memory);
    this.#last = moment;
    this.isNew = true;
    this.#keepPeak(moment);
    const before = this.#moments.at(-1)?.snapshot.at ?? this.started;
    if (snapshot.at - before < this.#momentStep) return;
    this.#moments.push(moment);
    if (this.#moments.length <= MOST_MOMENTS) return;
    this.#moments = this.#moments.filter((_, i) => i % 2 === 1);
    this.#momentStep *= 2;
  }

  /** Compares bytes that the recording made, not what the system reports: a process keeps memory that it has freed. */
  #keepPeak(moment: Moment): void {
    const own = ownBytes(moment.snapshot, this.baseline);
    if (own < this.#highest) return;
    this.#highest = own;
    this.peak = moment;
  }

  ended(end: Snapshot, memory: MemoryNow): void {
    this.grown(end, memory);
    this.isOpen = false;
  }

  /** All snapshots that the file needs. */
  *snapshots(): Iterable<Snapshot> {
    for (const { snapshot } of [this.peak, this.#last, ...this.#moments]) yield snapshot;
  }

  file(stacks: ReadonlyMap<number, NewStack>, positions: Positions): ProfileFile {
    const view = (name: string, moment: Moment): ProfileView => ({
      name,
      at: Math.round(moment.snapshot.at - this.started),
      head: treeOf(moment, this.baseline, stacks, positions),
    });
    const { kind, title, worker } = this.recorded;
    const peak = view("peak", this.peak);
    const others = this.#moments.filter((moment) => moment !== this.peak && moment !== this.#last);
    return {
      spillway: {
        version: VERSION,
        title,
        worker,
        kind,
        complete: !this.isOpen,
        started: Math.round(this.started),
        ended: Math.round(this.#last.snapshot.at),
        peak: this.peak.memory.private,
      },
      head: peak.head,
      samples: samplesOf(peak.head),
      peakAt: peak.at,
      views: [
        view("end", this.#last),
        ...(this.isOpen ? [] : [onlyMade(view("leaked", this.#last))]),
        ...others.map((moment) => view(timeText(moment.snapshot.at - this.started), moment)),
      ],
      curve: this.#curve,
    };
  }
}

/**
 * Keeps only code nodes: what functions made and what still lives at the end. The rest of the process's memory cannot
 * leak.
 */
function onlyMade(view: ProfileView): ProfileView {
  return { ...view, head: { ...view.head, children: view.head.children.filter(({ kind }) => kind === "code") } };
}

function timeText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function samplesOf(head: ProfileNode): ProfileFile["samples"] {
  const samples: ProfileFile["samples"][number][] = [];
  const visit = ({ id, selfSize, children }: ProfileNode): void => {
    if (selfSize > 0) samples.push({ size: selfSize, nodeId: id, ordinal: id });
    for (const child of children) visit(child);
  };
  visit(head);
  return samples;
}
