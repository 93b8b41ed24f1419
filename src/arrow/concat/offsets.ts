/** Growing offsets of a variable-size column. */
import { ValueError } from "../../errors/index.ts";
import { align } from "../ipc/schema-message.ts";
import type { Vector } from "../types.ts";
import { offsetAt, offsetsOf } from "../vector.ts";
import { GrowableBytes } from "./growable.ts";

/** Growing offsets, 32 bits each while building; converted at the end for types with large offsets. */
export class OffsetsBuilder {
  /** Where the next value starts. */
  end = 0;
  private length = 0;
  private readonly scratch = new GrowableBytes();
  private readonly wide = new GrowableBytes();

  get byteLength(): number {
    return (this.length + 1) * 4;
  }
  /** Bytes of the offsets in a block, with `count` more values. */
  paddedBy(count: number, large: boolean): number {
    return align((this.length + count + 1) * (large ? 8 : 4));
  }
  reset(): void {
    this.end = 0;
    this.length = 0;
  }
  release(): void {
    this.reset();
    this.scratch.release();
    this.wide.release();
  }
  /** Returns the range of the source's data that belongs to rows [start, end). */
  append(vector: Vector, start: number, end: number): { from: number; to: number } {
    const offsets = offsetsOf(vector);
    const from = offsetAt(offsets, start);
    const to = offsetAt(offsets, end);
    const count = end - start;
    if (this.end + (to - from) > 0x7fffffff) {
      throw new ValueError(
        `A column of one block may hold at most 2 GiB of text, bytes or list elements; this one would hold ${
          this.end + (to - from)
        }. Use smaller blocks (targetMaxBlockSize).`,
      );
    }
    const at = this.room(count);
    const target = this.scratch.words;
    const source = offsets.words;
    const delta = this.end - from;
    if (offsets.stride === 2) {
      for (let index = 0; index < count; index++)
        target[at + index] = (source[2 * (start + index + 1)] as number) + delta;
    } else if (delta === 0) {
      target.set(source.subarray(start + 1, end + 1), at);
    } else {
      for (let index = 0; index < count; index++) target[at + index] = (source[start + index + 1] as number) + delta;
    }
    this.length += count;
    this.end += to - from;
    return { from, to };
  }
  appendEmpty(count: number): void {
    const at = this.room(count);
    this.scratch.words.fill(this.end, at, at + count);
    this.length += count;
  }
  finish(large: boolean): Uint8Array {
    this.room(0);
    const bytes = this.byteLength;
    if (!large) return this.scratch.bytes.subarray(0, bytes);
    this.wide.reserve(bytes * 2, 0);
    const { words } = this.scratch;
    const target = this.wide.words;
    for (let index = 0; index <= this.length; index++) {
      target[2 * index] = words[index] as number;
      target[2 * index + 1] = 0;
    }
    return this.wide.bytes.subarray(0, bytes * 2);
  }
  private room(count: number): number {
    this.scratch.reserve((this.length + count + 1) * 4, this.length === 0 ? 0 : this.byteLength);
    if (this.length === 0) this.scratch.words[0] = 0;
    return this.length + 1;
  }
}

/** The range of a variable-size vector's data that belongs to rows [start, end). */
export function rangeOf(vector: Vector, start: number, end: number): { readonly from: number; readonly to: number } {
  const offsets = offsetsOf(vector);
  return { from: offsetAt(offsets, start), to: offsetAt(offsets, end) };
}
