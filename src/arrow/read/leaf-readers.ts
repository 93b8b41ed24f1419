/** Readers of columns without children whose values are no expressions: nulls, booleans, text, bytes. */
import type { Vector } from "../types.ts";
import { bufferOf, offsetsOf, validityOf } from "../vector.ts";
import { TextReader } from "./text.ts";
import type { ValueReader } from "./value-reader.ts";

export abstract class NullableReader implements ValueReader {
  protected validity: Uint8Array | null = null;
  protected offset = 0;
  bind(vector: Vector): void {
    this.validity = validityOf(vector);
    this.offset = vector.offset;
  }
  protected isNull(index: number): boolean {
    const { validity } = this;
    if (validity === null) return false;
    const bit = this.offset + index;
    return ((validity[bit >>> 3] as number) & (1 << (bit & 7))) === 0;
  }
  abstract at(index: number): unknown;
  fill(out: unknown[], into: number, from: number, to: number): void {
    for (let index = from; index < to; index++) out[into + index - from] = this.at(index);
  }
}

export class NullReader implements ValueReader {
  bind(): void {}
  at(): null {
    return null;
  }
  fill(out: unknown[], into: number, from: number, to: number): void {
    for (let index = from; index < to; index++) out[into + index - from] = null;
  }
}

export class BoolReader extends NullableReader {
  private bits: Uint8Array = new Uint8Array(0);
  override bind(vector: Vector): void {
    super.bind(vector);
    this.bits = bufferOf(vector, 1);
  }
  at(index: number): boolean | null {
    if (this.isNull(index)) return null;
    const bit = this.offset + index;
    return ((this.bits[bit >>> 3] as number) & (1 << (bit & 7))) !== 0;
  }
}

export class TextColumnReader extends NullableReader {
  private readonly text = new TextReader();
  override bind(vector: Vector): void {
    super.bind(vector);
    this.text.bind(vector);
  }
  at(index: number): string | null {
    return this.isNull(index) ? null : this.text.at(index);
  }
}

/** Neither a view nor a pooled Buffer: slices of those share memory. */
function copied(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = new Uint8Array(to - from);
  copy.set(bytes.subarray(from, to));
  return copy;
}

export class BinaryReader extends NullableReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  private stride: 1 | 2 = 1;
  private data: Uint8Array = new Uint8Array(0);
  override bind(vector: Vector): void {
    super.bind(vector);
    ({ words: this.words, stride: this.stride } = offsetsOf(vector));
    this.data = bufferOf(vector, 2);
  }
  at(index: number): Uint8Array | null {
    if (this.isNull(index)) return null;
    return copied(
      this.data,
      this.words[index * this.stride] as number,
      this.words[(index + 1) * this.stride] as number,
    );
  }
}

export class FixedBinaryReader extends NullableReader {
  private data: Uint8Array = new Uint8Array(0);
  constructor(private readonly width: number) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    this.data = bufferOf(vector, 1);
  }
  at(index: number): Uint8Array | null {
    if (this.isNull(index)) return null;
    const from = (this.offset + index) * this.width;
    return copied(this.data, from, from + this.width);
  }
}
