/**
 * The cargo of a fed task's rows, outside of the kernel. Rows are numbered as they come. They lie in pieces, each an
 * Arrow block of a few rows, one piece after the other in chunks. The first chunks stay in memory; what passes the
 * limit goes to a file. So a piece is the least that is read back for one row, and numbers ascend as positions do.
 */
import { bytesOfRows, planBlock, type RecordBatch, readBlock, sliceBatch } from "../../arrow/index.ts";
import { KernelMemoryError } from "../../errors/index.ts";
import { type Allocation, allocate } from "../../native/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { CargoFile } from "./cargo-file.ts";

/** A piece has no more, unless it is one row. Narrow rows share a piece, which is read whole for each of them. */
const PIECE_BYTES = 8 << 10;
/** What is allocated, and written to disk, at once. */
const CHUNK_BYTES = 4 << 20;
/** A block begins at a multiple of this, so that its buffers are aligned. */
const ALIGNMENT = 64;
/** A row has a number of 32 bits. */
const MOST_ROWS = 2 ** 32 - 1;

type Place = { readonly memory: Allocation } | { readonly position: number };

interface Chunk {
  place: Place;
  readonly length: Bytes;
}

interface FoundRow {
  /** A few rows, of which one is the row. */
  readonly batch: RecordBatch;
  readonly index: number;
}

export class CargoStore {
  readonly #chunks: Chunk[] = [];
  readonly #file: CargoFile | null;
  /** Of each piece: its first row, its chunk, where it begins in the chunk and how long it is. */
  readonly #firsts: number[] = [];
  readonly #chunkOf: number[] = [];
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  /** The chunk that takes the next piece. */
  #open: { readonly memory: Allocation; used: Bytes } | null = null;
  /** The piece that was read last. */
  #last: { readonly piece: number; readonly batch: RecordBatch } | null = null;
  #scratch = new Uint8Array(0);
  #limit: Bytes;
  rows = 0;
  /** Bytes of the rows as they are kept, in memory and on disk. */
  bytes: Bytes = 0;
  memory: Bytes = 0;

  /** Without a directory, everything stays in memory. */
  constructor(
    directory: string | null,
    private readonly operator: string,
    limit: Bytes | null,
  ) {
    this.#file = directory === null ? null : new CargoFile(directory, operator);
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  get spilled(): Bytes {
    return this.#file?.length ?? 0;
  }

  /** Copies the rows. They get numbers from the returned one on. */
  add(batch: RecordBatch): number {
    const first = this.rows;
    if (first + batch.length > MOST_ROWS) {
      throw new Error(`${this.operator}: more than ${MOST_ROWS} wide rows came to one task: use more partitions`);
    }
    for (let start = 0; start < batch.length; ) {
      const end = pieceEnd(batch, start);
      this.#append(sliceBatch(batch, start, end));
      start = end;
    }
    return first;
  }

  /** At most so many bytes stay in memory; the rest goes to the file now. */
  keepWithin(limit: Bytes | null): void {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    if (this.memory > this.#limit) this.#seal();
    for (let i = this.#chunks.length - 1; i >= 0 && this.memory > this.#limit; i--) this.#spill(i);
  }

  /** Bytes that a row takes, about: it may share its piece with others. */
  bytesOf(row: number): Bytes {
    const piece = this.#pieceOf(row);
    return this.#length(piece) / this.#rowsIn(piece);
  }

  /** The row, borrowed: it is valid until the next call. */
  row(number: number): FoundRow {
    const piece = this.#pieceOf(number);
    if (this.#last?.piece !== piece) this.#last = { piece, batch: readBlock(this.#bytesOf(piece)) };
    return { batch: this.#last.batch, index: number - (this.#firsts[piece] ?? 0) };
  }

  close(): void {
    this.#open?.memory.free();
    this.#open = null;
    for (const { place } of this.#chunks) if ("memory" in place) place.memory.free();
    this.#chunks.length = 0;
    this.#last = null;
    this.#file?.close();
    this.memory = 0;
  }

  #append(rows: RecordBatch): void {
    const plan = planBlock(rows);
    const open = this.#room(plan.byteLength);
    plan.write(open.memory.view(open.used, plan.byteLength));
    this.#firsts.push(this.rows);
    this.#chunkOf.push(this.#chunks.length);
    this.#starts.push(open.used);
    this.#lengths.push(plan.byteLength);
    open.used = Math.ceil((open.used + plan.byteLength) / ALIGNMENT) * ALIGNMENT;
    this.rows += rows.length;
    this.bytes += plan.byteLength;
  }

  #room(bytes: Bytes): { readonly memory: Allocation; used: Bytes } {
    if (this.#open !== null && this.#open.used + bytes > this.#open.memory.size) this.#seal();
    if (this.#open === null) {
      const memory = this.#allocated(Math.max(CHUNK_BYTES, bytes));
      this.memory += memory.size;
      this.#open = { memory, used: 0 };
    }
    return this.#open;
  }

  #allocated(bytes: Bytes): Allocation {
    try {
      return allocate(bytes);
    } catch (error) {
      throw new KernelMemoryError(
        `${this.operator}: ${bytes} bytes for rows of the task were refused (${(error as Error).message}). Give the session more memory or fewer workers.`,
        this.operator,
        null,
        1,
      );
    }
  }

  /** No more pieces go to the chunk. It stays in memory if there is room for it and for the next one. */
  #seal(): void {
    if (this.#open === null) return;
    const { memory, used } = this.#open;
    this.#open = null;
    this.#chunks.push({ place: { memory }, length: used });
    if (this.memory + CHUNK_BYTES > this.#limit) this.#spill(this.#chunks.length - 1);
  }

  #spill(index: number): void {
    const chunk = this.#chunks[index];
    if (chunk === undefined || this.#file === null || !("memory" in chunk.place)) return;
    const { memory } = chunk.place;
    chunk.place = { position: this.#file.append(memory.view(0, chunk.length)) };
    this.#last = null;
    this.memory -= memory.size;
    memory.free();
  }

  #pieceOf(row: number): number {
    const firsts = this.#firsts;
    let low = 0;
    let high = firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((firsts[middle] as number) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #rowsIn(piece: number): number {
    return (this.#firsts[piece + 1] ?? this.rows) - (this.#firsts[piece] ?? 0);
  }

  #length(piece: number): Bytes {
    return this.#lengths[piece] ?? 0;
  }

  #bytesOf(piece: number): Uint8Array {
    const length = this.#length(piece);
    const start = this.#starts[piece] ?? 0;
    const chunk = this.#chunks[this.#chunkOf[piece] ?? 0];
    const place: Place | null = chunk === undefined ? this.#open : chunk.place;
    if (place === null) throw new Error(`${this.operator}: piece ${piece} of its rows is gone`);
    if ("memory" in place) return place.memory.view(start, length);
    if (this.#file === null) throw new Error(`${this.operator}: rows without a file`);
    if (this.#scratch.byteLength < length) this.#scratch = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
    const bytes = this.#scratch.subarray(0, length);
    this.#file.read(bytes, place.position + start);
    return bytes;
  }
}

/** The end of the piece that begins with a row. */
function pieceEnd(batch: RecordBatch, start: number): number {
  let bytes = 0;
  for (let row = start; row < batch.length; row++) {
    for (const column of batch.columns) bytes += bytesOfRows(column, row, row + 1);
    if (bytes > PIECE_BYTES) return Math.max(start + 1, row);
  }
  return batch.length;
}
