/** Sinks with sinks inside, bytes of any length, and open columns, whose type no value has decided yet. */
import { RowShapeError, ValueError } from "../../errors/index.ts";
import { isMap, isTypedArray, isUint8Array } from "../../realm/index.ts";
import type { DataType, Field, Vector } from "../types.ts";
import { halfPair } from "../well-formed.ts";
import { inferType, isNumbers, isPlain } from "./infer.ts";
import { describe, misfit, type Place, unfit } from "./misfit.ts";
import { type RecordWriter, recordWriter } from "./record-writer.ts";
import { bytesOf, enlarged, leaf, NullFlags, type Sink } from "./sink.ts";
import { sinkFor } from "./sink-for.ts";

/** Offsets of values of varying length: one more than there are values. */
class OffsetArray {
  private starts = new Int32Array(1);
  private wide = new Int32Array(0);

  at(index: number): number {
    return this.starts[index] as number;
  }
  /** The end of value `index`, which is the start of the next. */
  end(index: number, end: number, place: Place): void {
    if (end > 0x7fffffff) {
      throw new ValueError(
        `Column "${place.column}" holds more than 2^31 bytes or elements in one block. Use smaller blocks (targetMaxBlockSize).`,
        place.column,
      );
    }
    if (index + 1 >= this.starts.length) {
      this.starts = enlarged(Int32Array, this.starts, index + 2, (target, source) => target.set(source));
    }
    this.starts[index + 1] = end;
  }
  byteLength(length: number, large: boolean): number {
    return (length + 1) * (large ? 8 : 4);
  }
  finish(length: number, large: boolean): Uint8Array {
    if (!large) return bytesOf(this.starts, length + 1, 4);
    this.wide = new Int32Array(2 * (length + 1));
    for (let index = 0; index <= length; index++) this.wide[2 * index] = this.at(index);
    return bytesOf(this.wide, length + 1, 8);
  }
}

export class BinarySink implements Sink {
  private readonly nulls = new NullFlags();
  private readonly offsets = new OffsetArray();
  private data = new Uint8Array(0);
  constructor(
    readonly type: DataType & { readonly kind: "binary" },
    private readonly place: Place,
  ) {}
  write(index: number, value: unknown): void {
    const start = this.offsets.at(index);
    if (value === null || value === undefined) {
      this.offsets.end(index, start, this.place);
      this.nulls.setNull(index);
      return;
    }
    if (!isUint8Array(value)) misfit(this.place, this.type, value);
    const end = start + value.byteLength;
    this.offsets.end(index, end, this.place);
    if (end > this.data.length) {
      this.data = enlarged(Uint8Array, this.data, end, (target, source) => target.set(source));
    }
    this.data.set(value, start);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  byteLength(length: number): number {
    const offsets = this.offsets.byteLength(length, this.type.large);
    return this.offsets.at(length) + offsets + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    const data = this.data.subarray(0, this.offsets.at(length));
    return leaf(this.type, length, this.nulls.finish(length), this.offsets.finish(length, this.type.large), data);
  }
}

/** A column with only nulls so far stores nothing. The first value makes the sink that replaces it. */
export class OpenSink implements Sink {
  readonly type: DataType = { kind: "null" };
  constructor(
    private readonly place: Place,
    private readonly replace: (sink: Sink) => void,
  ) {}
  write(index: number, value: unknown): void {
    if (value === null || value === undefined) return;
    const type = inferType(value);
    if (type === null) {
      throw new RowShapeError(
        `Column "${this.place.column}" was given ${describe(value)}, which a column cannot hold.`,
        this.place.column,
      );
    }
    const sink = sinkFor(type, this.place, this.replace);
    for (let row = 0; row < index; row++) sink.write(row, null);
    sink.write(index, value);
    this.replace(sink);
  }
  byteLength(): number {
    return 0;
  }
  finish(length: number): Vector {
    return { type: this.type, length, nullCount: length, offset: 0, buffers: [], children: [], dictionary: null };
  }
}

const inside = (place: Place, suffix: string): Place => ({ ...place, column: `${place.column}${suffix}` });

/** Writes a list's elements, from a typed array at once if the child can take it. */
function writeElements(child: () => Sink, at: number, values: ArrayLike<unknown>): void {
  if (isNumbers(values) && child().writeAll?.(at, values) === true) return;
  // The child is looked up each time, because an open child is replaced at its first value.
  for (let index = 0; index < values.length; index++) child().write(at + index, values[index]);
}

export class ListSink implements Sink {
  private readonly nulls = new NullFlags();
  private readonly offsets = new OffsetArray();
  private readonly place: Place;
  private child: Sink;
  private readonly current = (): Sink => this.child;
  constructor(
    private readonly shape: DataType & { readonly kind: "list" },
    place: Place,
  ) {
    this.place = place;
    this.child = sinkFor(shape.child.type, inside(place, "[]"), (sink) => {
      this.child = sink;
    });
  }
  get type(): DataType {
    return { ...this.shape, child: { ...this.shape.child, type: this.child.type } };
  }
  write(index: number, value: unknown): void {
    const start = this.offsets.at(index);
    if (value === null || value === undefined) {
      this.offsets.end(index, start, this.place);
      this.nulls.setNull(index);
      return;
    }
    if (!Array.isArray(value) && !isTypedArray(value)) misfit(this.place, this.type, value);
    writeElements(this.current, start, value);
    this.offsets.end(index, start + value.length, this.place);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  byteLength(length: number): number {
    const own = this.offsets.byteLength(length, this.shape.large) + this.nulls.byteLength(length);
    return own + this.child.byteLength(this.offsets.at(length));
  }
  finish(length: number): Vector {
    const elements = this.offsets.at(length);
    const vector = leaf(this.type, length, this.nulls.finish(length), this.offsets.finish(length, this.shape.large));
    return { ...vector, children: [this.child.finish(elements)] };
  }
}

export class FixedListSink implements Sink {
  private readonly nulls = new NullFlags();
  private child: Sink;
  private readonly current = (): Sink => this.child;
  constructor(
    private readonly shape: DataType & { readonly kind: "fixedList" },
    private readonly place: Place,
  ) {
    this.child = sinkFor(shape.child.type, inside(place, "[]"), (sink) => {
      this.child = sink;
    });
  }
  get type(): DataType {
    return { ...this.shape, child: { ...this.shape.child, type: this.child.type } };
  }
  write(index: number, value: unknown): void {
    const { size } = this.shape;
    const start = index * size;
    if (value === null || value === undefined) {
      for (let at = start; at < start + size; at++) this.child.write(at, null);
      this.nulls.setNull(index);
      return;
    }
    if (!Array.isArray(value) && !isTypedArray(value)) misfit(this.place, this.type, value);
    if (value.length !== size) unfit(this.place, this.type, value, `it takes exactly ${size} elements`);
    writeElements(this.current, start, value);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  byteLength(length: number): number {
    return this.nulls.byteLength(length) + this.child.byteLength(length * this.shape.size);
  }
  finish(length: number): Vector {
    const vector = leaf(this.type, length, this.nulls.finish(length));
    return { ...vector, children: [this.child.finish(length * this.shape.size)] };
  }
}

function refuseHalfName({ column }: Place, field: string): void {
  const half = halfPair(field);
  if (half === null) return;
  throw new RowShapeError(`Column "${column}": the name of the field ${JSON.stringify(field)} has ${half}.`, column);
}

export class StructSink implements Sink {
  private readonly nulls = new NullFlags();
  private readonly fields: RecordWriter;
  constructor(
    private readonly children: readonly Field[],
    private readonly place: Place,
  ) {
    for (const { name } of children) refuseHalfName(place, name);
    this.fields = recordWriter(
      children.map((field) => field.name),
      (index, replace) => {
        const field = children[index];
        return sinkFor(field?.type ?? { kind: "null" }, inside(place, `.${field?.name ?? ""}`), replace);
      },
      `Column "${place.column}": a struct`,
    );
  }
  get type(): DataType {
    const { sinks } = this.fields;
    const children = this.children.map((field, index) => ({ ...field, type: sinks[index]?.type ?? field.type }));
    return { kind: "struct", children };
  }
  write(index: number, value: unknown): void {
    if (value === null || value === undefined) {
      for (const sink of this.fields.sinks) sink.write(index, null);
      this.nulls.setNull(index);
      return;
    }
    if (!isPlain(value)) misfit(this.place, this.type, value);
    this.fields.write(index, value);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  byteLength(length: number): number {
    return this.fields.sinks.reduce((sum, sink) => sum + sink.byteLength(length), this.nulls.byteLength(length));
  }
  finish(length: number): Vector {
    const vector = leaf(this.type, length, this.nulls.finish(length));
    return { ...vector, children: this.fields.sinks.map((sink) => sink.finish(length)) };
  }
}

export class MapSink implements Sink {
  private readonly nulls = new NullFlags();
  private readonly offsets = new OffsetArray();
  private keys: Sink;
  private values: Sink;
  constructor(
    private readonly shape: DataType & { readonly kind: "map" },
    private readonly place: Place,
  ) {
    this.keys = sinkFor(shape.key.type, inside(place, "{key}"), (sink) => {
      this.keys = sink;
    });
    this.values = sinkFor(shape.value.type, inside(place, "{value}"), (sink) => {
      this.values = sink;
    });
  }
  get type(): DataType & { readonly kind: "map" } {
    const { key, value } = this.shape;
    return { kind: "map", key: { ...key, type: this.keys.type }, value: { ...value, type: this.values.type } };
  }
  write(index: number, value: unknown): void {
    const start = this.offsets.at(index);
    if (value === null || value === undefined) {
      this.offsets.end(index, start, this.place);
      this.nulls.setNull(index);
      return;
    }
    let at = start;
    for (const [key, held] of this.entries(value)) {
      if (key === null || key === undefined) unfit(this.place, this.type, value, "a key of a map may not be null");
      this.keys.write(at, key);
      this.values.write(at, held);
      at++;
    }
    this.offsets.end(index, at, this.place);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  /** A declared map also accepts a plain object, by its keys. */
  private entries(value: unknown): Iterable<[unknown, unknown]> {
    if (isMap(value)) return value;
    if (this.place.declared && isPlain(value)) return Object.entries(value);
    return misfit(this.place, this.type, value);
  }
  byteLength(length: number): number {
    const entries = this.offsets.at(length);
    const own = this.offsets.byteLength(length, false) + this.nulls.byteLength(length);
    return own + this.keys.byteLength(entries) + this.values.byteLength(entries);
  }
  finish(length: number): Vector {
    const entries = this.offsets.at(length);
    const { type } = this;
    const vector = leaf(type, length, this.nulls.finish(length), this.offsets.finish(length, false));
    const pairs = leaf({ kind: "struct", children: [type.key, type.value] }, entries, {
      validity: null,
      nullCount: 0,
    });
    return { ...vector, children: [{ ...pairs, children: [this.keys.finish(entries), this.values.finish(entries)] }] };
  }
}
