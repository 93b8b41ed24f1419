/**
 * An amount of everything a task needs or a machine has: cores, GPUs, memory, bytes of the store. Immutable; can be
 * added and compared, and does not know its owner. Cores and GPUs may be fractions: they are kept as whole
 * ten-thousandths, so that taking and giving back a million times leaves exactly the same amount.
 */
import type { Bytes } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";

interface Amounts {
  readonly cpu?: number;
  readonly gpu?: number;
  readonly memory?: Bytes;
  readonly objectStore?: Bytes;
}

/** The smallest part of a core or a GPU. */
const PARTS = 10_000;

export class Resources {
  static readonly none = new Resources({});

  readonly cpu: number;
  readonly gpu: number;
  readonly memory: Bytes;
  readonly objectStore: Bytes;

  constructor({ cpu = 0, gpu = 0, memory = 0, objectStore = 0 }: Amounts) {
    this.cpu = inParts(cpu);
    this.gpu = inParts(gpu);
    this.memory = memory;
    this.objectStore = objectStore;
  }

  add(other: Resources): Resources {
    return this.#with(other, (mine, theirs) => mine + theirs);
  }

  subtract(other: Resources): Resources {
    return this.#with(other, (mine, theirs) => mine - theirs);
  }

  /** The smaller amount of each. */
  min(other: Resources): Resources {
    return this.#with(other, Math.min);
  }

  /** The larger amount of each. */
  max(other: Resources): Resources {
    return this.#with(other, Math.max);
  }

  /** Bytes are whole: parts of one are left out. */
  scale(factor: number): Resources {
    const { cpu, gpu, memory, objectStore } = this;
    return new Resources({
      cpu: cpu * factor,
      gpu: gpu * factor,
      memory: Math.floor(memory * factor),
      objectStore: Math.floor(objectStore * factor),
    });
  }

  /** There is enough of everything in `available`. */
  fits(available: Resources): boolean {
    return (
      this.cpu <= available.cpu &&
      this.gpu <= available.gpu &&
      this.memory <= available.memory &&
      this.objectStore <= available.objectStore
    );
  }

  /** There is enough of everything in `available` besides what is `used` of it. */
  fitsBeside(used: Resources, available: Resources): boolean {
    return (
      inParts(this.cpu + used.cpu) <= available.cpu &&
      inParts(this.gpu + used.gpu) <= available.gpu &&
      this.memory + used.memory <= available.memory &&
      this.objectStore + used.objectStore <= available.objectStore
    );
  }

  toString(): string {
    const parts: string[] = [];
    if (this.cpu !== 0) parts.push(`${this.cpu} CPU`);
    if (this.gpu !== 0) parts.push(`${this.gpu} GPU`);
    if (this.memory !== 0) parts.push(`${formatSize(this.memory)} memory`);
    if (this.objectStore !== 0) parts.push(`${formatSize(this.objectStore)} object store`);
    return parts.length === 0 ? "nothing" : parts.join(", ");
  }

  #with(other: Resources, combine: (mine: number, theirs: number) => number): Resources {
    return new Resources({
      cpu: combine(this.cpu, other.cpu),
      gpu: combine(this.gpu, other.gpu),
      memory: combine(this.memory, other.memory),
      objectStore: combine(this.objectStore, other.objectStore),
    });
  }
}

function inParts(amount: number): number {
  return Math.round(amount * PARTS) / PARTS;
}
