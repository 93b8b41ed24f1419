/**
 * Reads Thrift's compact protocol, in which Parquet writes its footers. It reads numbers, lists and structs, and skips
 * everything else. Throws when the bytes end too early.
 */

const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I32 = 5;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCT = 12;

/** Deepest nesting of structs; footers have five levels. */
const DEEPEST = 32;

export class CompactReader {
  /** The type of the current field: a number from the table above. */
  type = 0;

  constructor(
    readonly bytes: Uint8Array,
    public at: number,
    private readonly end: number,
  ) {}

  /** The number of the struct's next field, or 0 at its end. `last` is the number of the field before. */
  field(last: number): number {
    const head = this.byte();
    if (head === 0) return 0;
    this.type = head & 15;
    const step = head >> 4;
    return step === 0 ? this.number() : last + step;
  }

  /** Returns the length of a list and sets `type` to the type of its values. */
  list(): number {
    const head = this.byte();
    this.type = head & 15;
    const count = head >> 4;
    return count === 15 ? this.unsigned() : count;
  }

  /** A signed number of up to 53 bits. */
  number(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** The bytes of the value. They are borrowed. */
  binary(): Uint8Array {
    const length = this.unsigned();
    const start = this.at;
    this.#pass(length);
    return this.bytes.subarray(start, this.at);
  }

  /** Skips the value of a field. */
  skip(type: number, depth = 0): void {
    switch (type) {
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        this.#pass(1);
        return;
      case I16:
      case I32:
      case I64:
        while (this.byte() >= 128);
        return;
      case DOUBLE:
        this.#pass(8);
        return;
      case BINARY:
        this.#pass(this.unsigned());
        return;
      case LIST:
      case SET:
        this.#skipList(depth + 1);
        return;
      case STRUCT:
        this.#skipStruct(depth + 1);
        return;
      default:
        throw new RangeError(`a value of the unknown type ${type}`);
    }
  }

  #skipList(depth: number): void {
    const count = this.list();
    const { type } = this;
    // In a list, each boolean takes a byte.
    const own = type === TRUE || type === FALSE ? BYTE : type;
    for (let i = 0; i < count; i++) this.skip(own, depth);
  }

  #skipStruct(depth: number): void {
    if (depth > DEEPEST) throw new RangeError(`structs more than ${DEEPEST} deep`);
    for (let id = this.field(0); id !== 0; id = this.field(id)) this.skip(this.type, depth);
  }

  byte(): number {
    if (this.at >= this.end) throw new RangeError("the footer ends too soon");
    return this.bytes[this.at++] ?? 0;
  }

  unsigned(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.byte();
      value += (byte & 127) * unit;
      if (byte < 128) break;
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new RangeError("a number beyond 53 bits");
    return value;
  }

  #pass(count: number): void {
    this.at += count;
    if (this.at > this.end) throw new RangeError("the footer ends too soon");
  }
}

export const isStruct = (type: number): boolean => type === STRUCT;
export const isBinary = (type: number): boolean => type === BINARY;
export const isList = (type: number): boolean => type === LIST;
export const isNumber = (type: number): boolean => type === I16 || type === I32 || type === I64;

/** Appends the number as the protocol writes it. */
export function pushUnsigned(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
