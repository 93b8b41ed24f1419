/**
 * Strings from a UTF-8 column. ASCII, the common case, is decoded into one string per window of about 2 KB, and values
 * are slices of it: one native call for dozens of rows. A slice keeps its window alive, so windows are small.
 */
import { isAscii } from "node:buffer";
import type { Vector } from "../types.ts";
import { bufferOf, offsetsOf } from "../vector.ts";

const WINDOW_BYTES = 2048;

export class TextReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  private stride: 1 | 2 = 1;
  private data: Buffer = Buffer.alloc(0);
  private length = 0;
  /** All text in the column is ASCII. */
  private allAscii = true;
  /** The window: rows [from, to), their bytes as a string, the offset of its first byte. */
  private from = 0;
  private to = 0;
  private base = 0;
  private text = "";
  private ascii = true;

  bind(vector: Vector): void {
    const { words, stride } = offsetsOf(vector);
    const bytes = bufferOf(vector, 2);
    this.words = words;
    this.stride = stride;
    this.length = vector.length;
    this.data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const start = words[0] as number;
    const end = words[vector.length * stride] ?? start;
    this.allAscii = end === start || isAscii(bytes.subarray(start, end));
    this.from = 0;
    this.to = 0;
  }

  at(row: number): string {
    if (row < this.from || row >= this.to) this.open(row);
    const start = this.words[row * this.stride] as number;
    const end = this.words[(row + 1) * this.stride] as number;
    if (this.ascii) return this.text.slice(start - this.base, end - this.base);
    return this.mixed(start, end);
  }

  private open(row: number): void {
    const { words, stride } = this;
    const start = words[row * stride] as number;
    const limit = start + WINDOW_BYTES;
    let to = row + 1;
    while (to < this.length && (words[(to + 1) * stride] as number) <= limit) to++;
    const end = words[to * stride] as number;
    this.from = row;
    this.to = to;
    this.base = start;
    this.ascii = this.allAscii || isAscii(this.data.subarray(start, end));
    this.text = this.data.toString("latin1", start, end);
  }

  /** A value of a window that is not all ASCII; most of its values may still be. */
  private mixed(start: number, end: number): string {
    for (let at = start; at < end; at++) {
      if ((this.data[at] as number) > 127) return this.data.toString("utf8", start, end);
    }
    return this.text.slice(start - this.base, end - this.base);
  }
}
