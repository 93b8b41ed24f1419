/**
 * Numbers for the values of a cargo column that SQL compares: equal values get the same number, so the kernel compares
 * numbers instead of values. Values are found by their hash; values of one hash are compared byte by byte. Where SQL
 * orders by the column, numbers are replaced by ranks once all values are there.
 */
import { hash } from "node:crypto";
import type { Bytes } from "../../protocol/index.ts";

/** Returns the bytes of a row's value, borrowed until the next call. */
type Read = (row: number) => Uint8Array;

/** For tests: so few bits of each hash that different values share one. */
const HASH_BITS = Number(process.env.SPILLWAY_TEST_CARGO_HASH_BITS ?? 64);
/** So many bytes of each value are kept for its order. Values that begin alike are compared as a whole. */
const PREFIX_BYTES = 32;
const FIRST_SLOTS = 1024;
const EMPTY = 0;

export class Values {
  /** Of each value: a row that has it. */
  #rows: number[] = [];
  readonly #hashes: bigint[] = [];
  /** The number of a value, plus 1, at the place that its hash says or at one of the next. */
  #slots = new Uint32Array(FIRST_SLOTS);
  readonly #prefixes: Uint8Array[] | null;

  constructor(
    private readonly read: Read,
    isOrdered: boolean,
  ) {
    this.#prefixes = isOrdered ? [] : null;
  }

  get isOrdered(): boolean {
    return this.#prefixes !== null;
  }

  get memory(): Bytes {
    const prefixes = (this.#prefixes?.length ?? 0) * (PREFIX_BYTES + 64);
    return this.#slots.byteLength + this.#rows.length * 32 + prefixes;
  }

  /** The number of the value, which the row has. The row must be readable from now on. */
  numberOf(value: Uint8Array, row: number): number {
    const hashed = hashOf(value);
    let slot = this.#slotOf(hashed);
    for (let found = this.#slots[slot]; found !== EMPTY; found = this.#slots[slot]) {
      const number = (found as number) - 1;
      if (this.#hashes[number] === hashed && Buffer.compare(this.read(this.rowOf(number)), value) === 0) return number;
      slot = (slot + 1) % this.#slots.length;
    }
    const number = this.#rows.push(row) - 1;
    this.#hashes.push(hashed);
    this.#prefixes?.push(Uint8Array.from(value.subarray(0, PREFIX_BYTES)));
    this.#slots[slot] = number + 1;
    if (this.#rows.length * 2 > this.#slots.length) this.#grow();
    return number;
  }

  rowOf(number: number): number {
    const row = this.#rows[number];
    if (row === undefined) throw new Error(`there is no value ${number} of ${this.#rows.length}`);
    return row;
  }

  /** From now on numbers are ranks: returns the rank of each number so far. No more values may come. */
  ranked(): Uint32Array {
    const order = Uint32Array.from(this.#rows, (_, number) => number).sort((a, b) => this.#compare(a, b));
    const ranks = new Uint32Array(order.length);
    for (let rank = 0; rank < order.length; rank++) ranks[order[rank] as number] = rank;
    this.#rows = Array.from(order, (number) => this.rowOf(number));
    return ranks;
  }

  #compare(a: number, b: number): number {
    const [first, second] = [this.#prefixes?.[a], this.#prefixes?.[b]];
    if (first === undefined || second === undefined) throw new Error("values without an order");
    const start = Buffer.compare(first, second);
    if (start !== 0 || first.byteLength < PREFIX_BYTES || second.byteLength < PREFIX_BYTES) return start;
    const whole = Uint8Array.from(this.read(this.rowOf(a)));
    return Buffer.compare(whole, this.read(this.rowOf(b)));
  }

  #slotOf(hashed: bigint): number {
    return Number(hashed % BigInt(this.#slots.length));
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (const [number, hashed] of this.#hashes.entries()) {
      let slot = this.#slotOf(hashed);
      while (this.#slots[slot] !== EMPTY) slot = (slot + 1) % this.#slots.length;
      this.#slots[slot] = number + 1;
    }
  }
}

function hashOf(value: Uint8Array): bigint {
  const bits = hash("sha256", value, "buffer").readBigUInt64LE();
  return HASH_BITS >= 64 ? bits : bits & ((1n << BigInt(HASH_BITS)) - 1n);
}
