/**
 * The memory of simulated processes: tasks grow by chance as they go on, some leave a part of it behind, and where the
 * node has no more the system ends the largest worker. Looked at from time to time, as the supervisor does, while there
 * is work.
 */
import type { HeapUse, MemorySettings } from "../../src/protocol/index.ts";
import { MEMORY } from "../support/memory-settings.ts";
import type { MemoryMeans } from "./means.ts";
import type { Surroundings } from "./surroundings.ts";
import type { SimulatedWorker } from "./worker.ts";

export const SETTINGS: MemorySettings = { ...MEMORY, recentToOldTime: 500, pausedTooLong: 2_000 };

const NOBODY = { private: 0, shared: 0, children: 0 };
/** Looks after the last job: what was paused has to go on. */
const LAST_LOOKS = 12;

export class SimulatedMemory {
  readonly #operators = new Map<string, { readonly share: number; readonly tasks: number; readonly way: number }>();
  #looksLeft = 0;
  #isAboutToLook = false;
  /** What the node was last seen to use. */
  #told = 0;
  /** What the program holds, the largest part of the node that it held, and how many of its questions are open. */
  #program = 0;
  mostOfProgram = 0;
  waitsOfProgram = 0;
  /** How often the system had to end somebody. */
  systemKills = 0;

  constructor(
    private readonly world: Surroundings,
    readonly means: MemoryMeans,
    private readonly workers: ReadonlyMap<number, SimulatedWorker>,
    /** What the store has of the node's memory. */
    private readonly storeBytes: () => number,
  ) {}

  get isShort(): boolean {
    return this.#told > SETTINGS.memoryUsageThreshold * this.means.node;
  }

  taskBegins(worker: SimulatedWorker, operator: string, hasFunctions: boolean): void {
    const { chance } = this.world;
    worker.before = worker.private;
    worker.peak = worker.private;
    const [most, some, few] = this.means.appetites;
    if (this.means.needs !== "chance") {
      worker.appetite = hasFunctions ? Math.floor(this.#needOf(operator, most) * this.means.limit) : 0;
      return;
    }
    const share = chance.happens(0.8) ? most : chance.happens(0.8) ? some : few;
    worker.appetite = Math.floor(share * chance.next() * this.means.limit);
  }

  /** The share of its limit that the next task of the operator takes. */
  #needOf(operator: string, most: number): number {
    const { chance } = this.world;
    const known = this.#operators.get(operator) ?? { share: most * chance.next(), tasks: 0, way: chance.between(0, 2) };
    this.#operators.set(operator, { ...known, tasks: known.tasks + 1 });
    if (this.means.needs === "truth") return known.share;
    const [, more, few] = this.means.appetites;
    if (known.way === 0) return chance.next() * more;
    if (known.way === 1) return Math.min(more, (known.share / 8) * (1 + known.tasks));
    return known.tasks < 2 ? known.share / 10 : chance.next() * few;
  }

  /** The worker goes on with its task; the one that the system ends for it, if any. */
  grow(worker: SimulatedWorker): SimulatedWorker | null {
    const isAtOnce = this.means.needs === "truth";
    const more = isAtOnce ? worker.appetite : Math.floor(worker.appetite * this.world.chance.next());
    worker.appetite -= more;
    worker.private += more;
    worker.peak = Math.max(worker.peak, worker.private);
    this.#lookSoon();
    if (this.#used <= this.means.node) return null;
    this.systemKills += 1;
    return [...this.workers.values()].reduce((most, one) => (one.private > most.private ? one : most), worker);
  }

  /** What its task took so far, as the worker itself sees it. */
  tookBy({ peak, before }: SimulatedWorker): { readonly peakMemory: number; readonly addedMemory: number } {
    return { peakMemory: peak, addedMemory: peak - before };
  }

  taskOver(worker: SimulatedWorker): void {
    const { chance } = this.world;
    const { base, leak } = this.means;
    const left = worker.private - base;
    worker.private = base + (chance.happens(leak) ? Math.floor(left * (0.5 + 0.5 * chance.next())) : 0);
    worker.appetite = 0;
  }

  /** Somebody collects garbage in it: that may help. */
  trim(worker: SimulatedWorker): { readonly before: number; readonly after: number } {
    const before = worker.private;
    if (this.world.chance.happens(0.5)) worker.private = Math.min(before, this.means.base);
    return { before, after: worker.private };
  }

  /** Half of what it has is on its heap, and half of what it may have can be. */
  heapOf(worker: SimulatedWorker): HeapUse {
    return { used: Math.floor(worker.private / 2), limit: Math.floor(this.means.limit / 2) };
  }

  /** Looks, again and again, as long as there is work. */
  watch(isAtWork: () => boolean): void {
    const isWatching = this.#looksLeft > 0;
    this.#looksLeft = LAST_LOOKS;
    if (isWatching) return;
    this.world.agenda.later(0, () => this.look());
    this.#lookLater(isAtWork);
  }

  #lookLater(isAtWork: () => boolean): void {
    const { agenda, chance } = this.world;
    agenda.later(chance.between(100, 500), () => {
      this.look();
      this.#looksLeft = isAtWork() ? LAST_LOOKS : this.#looksLeft - 1;
      if (this.#looksLeft > 0) this.#lookLater(isAtWork);
    });
  }

  /** Where something grows there are more looks, so that some of them fall into the short life of a simulated task. */
  #lookSoon(): void {
    const { agenda, chance } = this.world;
    if (this.#isAboutToLook) return;
    this.#isAboutToLook = true;
    agenda.later(chance.between(1, 20), () => {
      this.#isAboutToLook = false;
      this.look();
    });
  }

  /** Other sessions leave this part of the node. */
  share(part: number): void {
    this.world.tell({ type: "nodeShare", memory: Math.floor(part * this.means.node), sessions: part < 1 ? 2 : 1 });
  }

  /** The program grows to this part of what others leave free, or shrinks; it waits until there is room for it. */
  programHolds(part: number): void {
    if (this.waitsOfProgram > 0) {
      this.world.agenda.later(20, () => this.programHolds(part));
      return;
    }
    const free = this.means.node - (this.#used - this.#program);
    this.#program = Math.max(0, Math.floor(part * free));
    this.mostOfProgram = Math.max(this.mostOfProgram, this.#program / this.means.node);
    this.waitsOfProgram += 1;
    const request = this.world.askedByProgram(() => {
      this.waitsOfProgram -= 1;
    });
    this.#told = this.#used;
    const node = { used: this.#told, total: this.means.node };
    this.world.tell({ type: "programHolds", request, bytes: this.#program, node });
    this.#lookWhileItWaits();
  }

  /** As the supervisor does: the node is measured often while the program waits. */
  #lookWhileItWaits(): void {
    this.world.agenda.later(20, () => {
      if (this.waitsOfProgram === 0) return;
      this.look();
      this.#lookWhileItWaits();
    });
  }

  /** Measures everything at once. */
  look(): void {
    const workers = [...this.workers.values()].map(({ id, private: bytes }) => ({
      worker: id,
      private: bytes,
      shared: 0,
      children: 0,
    }));
    const program = { ...NOBODY, private: this.#program };
    this.world.tell({ type: "memory", workers, supervisor: NOBODY, program, used: this.#used });
    this.#told = this.#used;
    this.world.tell({ type: "nodeMemory", used: this.#told, total: this.means.node });
  }

  get #used(): number {
    let used = this.storeBytes() + this.#program;
    for (const worker of this.workers.values()) used += worker.private;
    return used;
  }
}
