/** A disk for the simulated world: files by number, slow or full or rotten as chance has it. */
import { SpillwayError, toWire } from "../../src/errors/index.ts";
import type { Event } from "../../src/scheduler/index.ts";
import type { RestoreOrder, SpillOrder, SpillPlace } from "../../src/store/index.ts";
import type { SimulatedArena } from "./arena.ts";
import type { Chance } from "./chance.ts";

export interface DiskDangers {
  readonly diskFull: number;
  readonly damage: number;
  readonly slowDisk: number;
}

export class SimulatedDisk {
  /** Rows of each block of each file. */
  readonly files = new Map<number, Map<number, readonly number[]>>();
  spilled = 0;
  restored = 0;
  damaged = 0;
  #lastFile = 0;

  constructor(
    private readonly chance: Chance,
    private readonly dangers: DiskDangers,
    private readonly arena: SimulatedArena,
    private readonly later: (delay: number, event: () => Event) => void,
  ) {}

  write(blocks: readonly SpillOrder[]): void {
    if (this.chance.happens(this.dangers.diskFull)) {
      const error = toWire(new SpillwayError("the disk is full"));
      this.later(this.#delay(), () => ({ type: "notSpilled", blocks: blocks.map(({ id }) => id), error }));
      return;
    }
    const before = blocks.map(({ range }) => this.arena.at(range));
    this.later(this.#delay(), () => {
      const file = ++this.#lastFile;
      const content = new Map<number, readonly number[]>();
      const places = blocks.map(({ id, range }, i) => {
        const rows = this.arena.at(range);
        if (rows !== before[i]) throw new Error(`block ${id} changed while it was written to disk`);
        content.set(i, rows);
        const place: SpillPlace = { file, offset: i, stored: range.length, codec: "none" };
        return { id, place };
      });
      this.files.set(file, content);
      this.spilled += blocks.length;
      return { type: "spilled", blocks: places };
    });
  }

  read({ id, range, place }: RestoreOrder): void {
    const rows = this.files.get(place.file)?.get(place.offset);
    if (rows === undefined) throw new Error(`block ${id} is restored from where it is not`);
    this.later(this.#delay(), () => {
      if (this.chance.happens(this.dangers.damage)) {
        this.damaged += 1;
        return { type: "damaged", block: id, error: toWire(new SpillwayError("a flipped byte")) };
      }
      this.restored += 1;
      this.arena.write(range, rows);
      return { type: "restored", block: id };
    });
  }

  free(places: readonly SpillPlace[]): void {
    for (const { file, offset } of places) {
      const content = this.files.get(file);
      if (content?.delete(offset) !== true) throw new Error("a place on disk was freed twice");
      if (content.size === 0) this.files.delete(file);
    }
  }

  #delay(): number {
    return this.chance.happens(this.dangers.slowDisk) ? this.chance.between(100, 2_000) : this.chance.between(1, 20);
  }
}
