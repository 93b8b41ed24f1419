/**
 * Reads FlatBuffers, as far as Arrow's metadata needs them. The bytes may be anything: a position outside of them is a
 * ValueError, not a RangeError.
 */
import { ValueError } from "../../errors/index.ts";
import { isErrorNamed } from "../../realm/index.ts";

export class FlatBufferTable {
  constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {}

  static root(bytes: Uint8Array): FlatBufferTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return guard(() => new FlatBufferTable(view, view.getUint32(0, true)));
  }

  private field(slot: number): number {
    const vtable = this.at - this.view.getInt32(this.at, true);
    if (4 + 2 * slot >= this.view.getUint16(vtable, true)) return 0;
    const offset = this.view.getUint16(vtable + 4 + 2 * slot, true);
    return offset === 0 ? 0 : this.at + offset;
  }
  private target(at: number): number {
    return at + this.view.getUint32(at, true);
  }

  int8(slot: number, missing: number): number {
    return guard(() => {
      const at = this.field(slot);
      return at === 0 ? missing : this.view.getInt8(at);
    });
  }
  int16(slot: number, missing: number): number {
    return guard(() => {
      const at = this.field(slot);
      return at === 0 ? missing : this.view.getInt16(at, true);
    });
  }
  int32(slot: number, missing: number): number {
    return guard(() => {
      const at = this.field(slot);
      return at === 0 ? missing : this.view.getInt32(at, true);
    });
  }
  int64(slot: number, missing: number): number {
    return guard(() => {
      const at = this.field(slot);
      return at === 0 ? missing : Number(this.view.getBigInt64(at, true));
    });
  }
  string(slot: number): string | null {
    return guard(() => {
      const field = this.field(slot);
      if (field === 0) return null;
      const at = this.target(field);
      const bytes = new Uint8Array(this.view.buffer, this.view.byteOffset + at + 4, this.view.getInt32(at, true));
      return new TextDecoder().decode(bytes);
    });
  }
  table(slot: number): FlatBufferTable | null {
    return guard(() => {
      const field = this.field(slot);
      return field === 0 ? null : new FlatBufferTable(this.view, this.target(field));
    });
  }
  tables(slot: number): FlatBufferTable[] {
    return guard(() => {
      const { start, count } = this.vector(slot, 4);
      return Array.from(
        { length: count },
        (_, index) => new FlatBufferTable(this.view, this.target(start + 4 * index)),
      );
    });
  }
  int32s(slot: number): number[] {
    return guard(() => {
      const { start, count } = this.vector(slot, 4);
      return Array.from({ length: count }, (_, index) => this.view.getInt32(start + 4 * index, true));
    });
  }
  /** A vector of structs of `width` 64-bit fields, or of plain 64-bit numbers (width 1), flattened. */
  int64s(slot: number, width: number): number[] {
    return guard(() => {
      const { start, count } = this.vector(slot, 8 * width);
      const flat = count * width;
      return Array.from({ length: flat }, (_, index) => Number(this.view.getBigInt64(start + 8 * index, true)));
    });
  }
  private vector(slot: number, bytesEach: number): { start: number; count: number } {
    const field = this.field(slot);
    if (field === 0) return { start: 0, count: 0 };
    const at = this.target(field);
    const count = this.view.getUint32(at, true);
    if (at + 4 + count * bytesEach > this.view.byteLength) throw new RangeError("vector past the end");
    return { start: at + 4, count };
  }
}

function guard<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isErrorNamed(error, "RangeError"))
      throw new ValueError("Not Arrow data: its metadata points outside of itself.");
    throw error;
  }
}
