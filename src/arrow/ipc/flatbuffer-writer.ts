/**
 * Writes FlatBuffers, as far as Arrow's metadata needs them. A buffer grows from its end to its start, because
 * everything is written before what refers to it. Positions are counted from the end.
 */
export type Position = number & { readonly __brand: "FlatBufferPosition" };

export class FlatBufferWriter {
  private bytes = new Uint8Array(1024);
  private view = new DataView(this.bytes.buffer);
  private used = 0;
  private slots: number[] = [];
  private tableStart = 0;
  private widest = 1;

  /** Makes room for `size` bytes, so that what follows after `trailing` more bytes ends aligned to `align`. */
  private prepare(align: number, trailing: number): void {
    this.widest = Math.max(this.widest, align);
    const padding = (align - ((this.used + trailing) % align)) % align;
    const needed = this.used + padding + trailing;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
      grown.set(this.bytes.subarray(this.bytes.length - this.used), grown.length - this.used);
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
    this.bytes.fill(0, this.bytes.length - this.used - padding, this.bytes.length - this.used);
    this.used += padding;
  }
  private push(size: number): number {
    this.used += size;
    return this.bytes.length - this.used;
  }
  private here(): Position {
    return this.used as Position;
  }

  private int8(value: number): void {
    this.prepare(1, 1);
    this.view.setInt8(this.push(1), value);
  }
  private int16(value: number): void {
    this.prepare(2, 2);
    this.view.setInt16(this.push(2), value, true);
  }
  private int32(value: number): void {
    this.prepare(4, 4);
    this.view.setInt32(this.push(4), value, true);
  }
  private int64(value: number): void {
    this.prepare(8, 8);
    this.view.setBigInt64(this.push(8), BigInt(value), true);
  }
  private pointer(target: Position): void {
    this.prepare(4, 4);
    this.int32(this.used + 4 - target);
  }

  string(text: string): Position {
    const encoded = new TextEncoder().encode(text);
    this.prepare(4, encoded.length + 1 + 4);
    this.view.setUint8(this.push(1), 0);
    this.bytes.set(encoded, this.push(encoded.length));
    this.int32(encoded.length);
    return this.here();
  }

  vector(targets: readonly Position[]): Position {
    this.prepare(4, 4 * targets.length + 4);
    for (const target of targets.toReversed()) this.pointer(target);
    this.int32(targets.length);
    return this.here();
  }

  int32Vector(values: readonly number[]): Position {
    this.prepare(4, 4 * values.length + 4);
    for (const value of values.toReversed()) this.int32(value);
    this.int32(values.length);
    return this.here();
  }

  /** A vector of structs of 64-bit fields, `width` fields each (field nodes, buffers, file blocks). */
  int64Structs(values: readonly number[], width: number): Position {
    this.prepare(4, 8 * values.length + 4);
    this.prepare(8, 8 * values.length);
    for (const value of values.toReversed()) this.int64(value);
    this.int32(values.length / width);
    return this.here();
  }

  /** Fields are added between start and end. A field with its default value may be left out. */
  startTable(): void {
    this.slots = [];
    this.tableStart = this.used;
  }
  addInt8(slot: number, value: number): void {
    this.int8(value);
    this.slots[slot] = this.used;
  }
  addInt16(slot: number, value: number): void {
    this.int16(value);
    this.slots[slot] = this.used;
  }
  addInt32(slot: number, value: number): void {
    this.int32(value);
    this.slots[slot] = this.used;
  }
  addInt64(slot: number, value: number): void {
    this.int64(value);
    this.slots[slot] = this.used;
  }
  addPointer(slot: number, target: Position): void {
    this.pointer(target);
    this.slots[slot] = this.used;
  }
  endTable(): Position {
    this.int32(0);
    const table = this.used;
    for (let slot = this.slots.length - 1; slot >= 0; slot--) {
      const field = this.slots[slot];
      this.int16(field === undefined ? 0 : table - field);
    }
    this.int16(table - this.tableStart);
    this.int16(4 + 2 * this.slots.length);
    this.view.setInt32(this.bytes.length - table, this.used - table, true);
    return table as Position;
  }

  /** The finished buffer. Its start is aligned like its widest scalar. */
  finish(root: Position): Uint8Array {
    this.prepare(Math.max(this.widest, 8), 4);
    this.pointer(root);
    return this.bytes.slice(this.bytes.length - this.used);
  }
}
