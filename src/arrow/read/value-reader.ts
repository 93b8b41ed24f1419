/**
 * Reads the values of one column as JavaScript values, all of them copies. Code is generated per type (and, for
 * structs, per set of fields), so that a row costs no lookup of what its columns are.
 */
import { dictionaryIndices } from "../concat/dictionary.ts";
import type { DataType, Field, ValueOptions, Vector } from "../types.ts";
import { bufferOf, emptyVector, offsetsOf, sliceVector, validityOf, viewOf } from "../vector.ts";
import * as exact from "./exact.ts";
import { fixedCode } from "./fixed-code.ts";
import { TextReader } from "./text.ts";

export interface ValueReader {
  /** Looks at another vector from here on. */
  bind(vector: Vector): void;
  at(index: number): unknown;
  /** Values [from, to) into `out` from place `into` on. */
  fill(out: unknown[], into: number, from: number, to: number): void;
}

/** What generated code may call. */
const run = { ...exact, viewOf, validityOf, bufferOf };

/** Column names reach generated code only as JSON strings, which are valid source for any name. */
const literal = (name: string): string => JSON.stringify(name);

/** `column` is the name used in errors. */
export function valueReader(type: DataType, options: ValueOptions, column: string): ValueReader {
  const fixed = fixedCode(type, options);
  if (fixed !== null) return generatedReader(type, options, column);
  switch (type.kind) {
    case "null":
      return new NullReader();
    case "utf8":
      return new TextColumnReader();
    case "binary":
      return new BinaryReader(type.large);
    case "fixedBinary":
      return new FixedBinaryReader(type.width);
    case "list":
      return new ListReader(valueReader(type.child.type, options, column), type.large);
    case "fixedList":
      return new FixedListReader(valueReader(type.child.type, options, column), type.size);
    case "struct":
      return new StructReader(type.children, options, column);
    case "map":
      return new MapReader(valueReader(type.key.type, options, column), valueReader(type.value.type, options, column));
    case "dictionary":
      return new DictionaryReader(type.value, options, column);
    default:
      return new BoolReader();
  }
}

interface ReaderFunctions {
  readonly bind: (vector: Vector) => void;
  readonly at: (index: number) => unknown;
  readonly fill: (out: unknown[], into: number, from: number, to: number) => void;
}

/** Variables, their binding and the expression of one column inside generated code. */
export interface InlineColumn {
  readonly declare: string;
  readonly bind: (vector: string) => string;
  readonly value: (index: string) => string;
  /** The value where it is known not to be null. */
  readonly present: (index: string) => string;
  readonly maybeNull: string;
}

/** For fixed-width types; `id` makes the variables unique. */
export function inlineColumn(type: DataType, options: ValueOptions, column: string, id: number): InlineColumn | null {
  const code = fixedCode(type, options);
  if (code === null) return null;
  const [a, n, o, t] = [`a${id}`, `n${id}`, `o${id}`, `t${id}`];
  const present = (i: string): string => code.expression(a, i, t, literal(column));
  return {
    declare: `let ${a},${n}=null,${o}=0,${t}=0;`,
    bind: (vector) =>
      `${n}=run.validityOf(${vector});${o}=${vector}.offset;` +
      `${a}=run.viewOf(${code.view},run.bufferOf(${vector},1),${o}*${code.each},${vector}.length*${code.each});`,
    present,
    value: (i) => `(${n}!==null&&(${n}[(${o}+${i})>>>3]&(1<<((${o}+${i})&7)))===0?null:${present(i)})`,
    maybeNull: `${n}!==null`,
  };
}

function generatedReader(type: DataType, options: ValueOptions, column: string): ValueReader {
  const inline = inlineColumn(type, options, column, 0);
  if (inline === null) throw new TypeError(`no code for ${type.kind}`);
  const source = `"use strict";${inline.declare}
    return {
      bind(vector){${inline.bind("vector")}},
      at(i){return ${inline.value("i")}},
      fill(out,into,from,to){
        if(${inline.maybeNull}){for(let i=from;i<to;i++)out[into++]=${inline.value("i")};}
        else{for(let i=from;i<to;i++)out[into++]=${inline.present("i")};}
      },
    };`;
  const make = new Function("run", source) as (calls: typeof run) => ReaderFunctions;
  return make(run);
}

abstract class NullableReader implements ValueReader {
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

class NullReader implements ValueReader {
  bind(): void {}
  at(): null {
    return null;
  }
  fill(out: unknown[], into: number, from: number, to: number): void {
    for (let index = from; index < to; index++) out[into + index - from] = null;
  }
}

class BoolReader extends NullableReader {
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

class TextColumnReader extends NullableReader {
  private readonly text = new TextReader();
  override bind(vector: Vector): void {
    super.bind(vector);
    this.text.bind(vector);
  }
  at(index: number): string | null {
    return this.isNull(index) ? null : this.text.at(index);
  }
}

/** Never a view, and never a pooled Buffer: `slice` of those shares memory. */
function copied(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = new Uint8Array(to - from);
  copy.set(bytes.subarray(from, to));
  return copy;
}

class BinaryReader extends NullableReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  private stride: 1 | 2 = 1;
  private data: Uint8Array = new Uint8Array(0);
  constructor(private readonly large: boolean) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    ({ words: this.words, stride: this.stride } = offsetsOf(vector, this.large));
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

class FixedBinaryReader extends NullableReader {
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

/** The child of a vector; an empty one where a writer left it out. */
function childOf(vector: Vector, index: number, type: DataType): Vector {
  return vector.children[index] ?? emptyVector(type);
}

class ListReader extends NullableReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  private stride: 1 | 2 = 1;
  constructor(
    private readonly child: ValueReader,
    private readonly large: boolean,
  ) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    ({ words: this.words, stride: this.stride } = offsetsOf(vector, this.large));
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

class FixedListReader extends NullableReader {
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

class MapReader extends NullableReader {
  private words: Int32Array | Uint32Array = new Int32Array(2);
  constructor(
    private readonly key: ValueReader,
    private readonly value: ValueReader,
  ) {
    super();
  }
  override bind(vector: Vector): void {
    super.bind(vector);
    this.words = offsetsOf(vector, false).words;
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

class StructReader extends NullableReader {
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

class DictionaryReader implements ValueReader {
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
    // Strings are immutable and may be shared by rows; other values are made anew for each.
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

export interface RecordFunctions {
  readonly bind: (columns: readonly Vector[]) => void;
  /** A plain object of the fields at an index, keys in their order. */
  readonly record: (index: number) => Record<string, unknown>;
}

/**
 * Generated code that makes one object literal per index: fixed-width columns are read in place, others by their
 * readers. Keys are computed only where a plain one means something else ("__proto__").
 */
export function recordFunctions(
  fields: readonly Field[],
  options: ValueOptions,
  parent: string | null,
): RecordFunctions {
  const declare: string[] = [];
  const bind: string[] = [];
  const entries: string[] = [];
  const readers: (ValueReader | null)[] = [];
  for (const [id, field] of fields.entries()) {
    const column = parent === null ? field.name : `${parent}.${field.name}`;
    const inline = inlineColumn(field.type, options, column, id);
    const key = field.name === "__proto__" ? '["__proto__"]' : literal(field.name);
    if (inline === null) {
      readers.push(valueReader(field.type, options, column));
      declare.push(`const r${id}=readers[${id}];`);
      bind.push(`r${id}.bind(columns[${id}]);`);
      entries.push(`${key}:r${id}.at(i)`);
    } else {
      readers.push(null);
      declare.push(inline.declare);
      bind.push(inline.bind(`columns[${id}]`));
      entries.push(`${key}:${inline.value("i")}`);
    }
  }
  const source = `"use strict";${declare.join("\n")}
    return {
      bind(columns){${bind.join("\n")}},
      record(i){return {${entries.join(",\n")}}},
    };`;
  const make = new Function("run", "readers", source) as (
    calls: typeof run,
    nested: readonly (ValueReader | null)[],
  ) => RecordFunctions;
  return make(run, readers);
}
