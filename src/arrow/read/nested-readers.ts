/** Readers of columns with columns inside, and of dictionaries. */
import { dictionaryIndices } from "../concat/dictionary.ts";
import type { DataType, Field, ValueOptions, Vector } from "../types.ts";
import { emptyVector, offsetsOf, sliceVector } from "../vector.ts";
import { type RecordFunctions, recordFunctions } from "./generated-code.ts";
import { NullableReader } from "./leaf-readers.ts";
import { type ValueReader, valueReader } from "./value-reader.ts";

/** The child of a vector; an empty one if the writer left it out. */
function childOf(vector: Vector, index: number, type: DataType): Vector {
  return vector.children[index] ?? emptyVector(type);
}

export class ListReader extends NullableReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  private stride: 1 | 2 = 1;
  constructor(private readonly child: ValueReader) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    ({ words: this.words, stride: this.stride } = offsetsOf(vector));
    this.child.bind(childOf(vector, 0, { kind: "null" }));
  }
  at(index: number): unknown[] | null {
    if (this.isNull(index)) return null;
    const from = this.words[index * this.stride] as number;
    const to = this.words[(index + 1) * this.stride] as number;
    const values = new Array<unknown>(to - from);
    this.child.fill(values, 0, from, to);
    return values;
  }
}

export class FixedListReader extends NullableReader {
  constructor(
    private readonly child: ValueReader,
    private readonly size: number,
  ) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    this.child.bind(childOf(vector, 0, { kind: "null" }));
  }
  at(index: number): unknown[] | null {
    if (this.isNull(index)) return null;
    const from = (this.offset + index) * this.size;
    const values = new Array<unknown>(this.size);
    this.child.fill(values, 0, from, from + this.size);
    return values;
  }
}

export class MapReader extends NullableReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  constructor(
    private readonly key: ValueReader,
    private readonly value: ValueReader,
  ) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    this.words = offsetsOf(vector).words;
    const entries = childOf(vector, 0, { kind: "struct", children: [] });
    const { offset, length } = entries;
    this.key.bind(sliceVector(childOf(entries, 0, { kind: "null" }), offset, offset + length));
    this.value.bind(sliceVector(childOf(entries, 1, { kind: "null" }), offset, offset + length));
  }
  at(index: number): Map<unknown, unknown> | null {
    if (this.isNull(index)) return null;
    const map = new Map<unknown, unknown>();
    const to = this.words[index + 1] as number;
    for (let at = this.words[index] as number; at < to; at++) map.set(this.key.at(at), this.value.at(at));
    return map;
  }
}

export class StructReader extends NullableReader {
  private readonly fields: RecordFunctions;
  constructor(children: readonly Field[], options: ValueOptions, column: string) {
    super();
    this.fields = recordFunctions(children, options, column);
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    const { offset, length } = vector;
    this.fields.bind(vector.children.map((child) => sliceVector(child, offset, offset + length)));
  }
  at(index: number): unknown {
    return this.isNull(index) ? null : this.fields.record(index);
  }
}

export class DictionaryReader implements ValueReader {
  private readonly values: ValueReader;
  private readonly isText: boolean;
  private places: Int32Array = new Int32Array(0);
  private bound: Vector | null = null;
  private texts: unknown[] = [];
  constructor(type: DataType, options: ValueOptions, column: string) {
    this.values = valueReader(type, options, column);
    this.isText = type.kind === "utf8";
  }
  bind(vector: Vector): void {
    this.places = dictionaryIndices(vector);
    const { dictionary } = vector;
    if (dictionary === null || dictionary === this.bound) return;
    this.bound = dictionary;
    this.values.bind(dictionary);
    // Rows may share strings, which are immutable. Other values are made anew for each row.
    this.texts = new Array(this.isText ? dictionary.length : 0);
    if (this.isText) this.values.fill(this.texts, 0, 0, dictionary.length);
  }
  at(index: number): unknown {
    const place = this.places[index] as number;
    if (place < 0) return null;
    return this.isText ? this.texts[place] : this.values.at(place);
  }
  fill(out: unknown[], into: number, from: number, to: number): void {
    for (let index = from; index < to; index++) out[into + index - from] = this.at(index);
  }
}
