/**
 * What a batch function gave, as a batch: typed arrays are taken as they are, without looking at a value; plain
 * arrays by the type of their values.
 */
import { RowShapeError } from "../../errors/index.ts";
import { typeEquals } from "../schema.ts";
import type { Columns, DataType, Field, RecordBatch, Vector } from "../types.ts";
import { elementType, inferType, isPlain, isTypedArray, type TypedArray } from "./infer.ts";
import { describe } from "./misfit.ts";
import type { DeclaredTypes } from "./row-builder.ts";
import type { Sink } from "./sink.ts";
import { sinkFor } from "./sink-for.ts";

/** Typed arrays are borrowed: the batch is good as long as the caller leaves them alone. */
export function columnsToBatch(columns: Columns, declared: DeclaredTypes = new Map()): RecordBatch {
  if (!isPlain(columns)) {
    throw new RowShapeError(
      `A batch is an object of arrays, as in { id: [1, 2], name: ["a", "b"] }; this is ${describe(columns)}.`,
      null,
    );
  }
  const fields: Field[] = [];
  const vectors: Vector[] = [];
  let first: { readonly name: string; readonly length: number } | null = null;
  for (const [name, values] of Object.entries(columns)) {
    const vector = columnVector(name, values, declared.get(name));
    first ??= { name, length: vector.length };
    if (vector.length !== first.length) {
      throw new RowShapeError(
        `Column "${name}" has ${vector.length} values, column "${first.name}" has ${first.length}.`,
        name,
      );
    }
    fields.push({ name, type: vector.type, nullable: true });
    vectors.push(vector);
  }
  if (first === null) throw new RowShapeError("A batch without any column.", null);
  const missing = [...declared.keys()].find((name) => !Object.hasOwn(columns, name));
  if (missing !== undefined) {
    const have = fields.map((field) => field.name).join(", ");
    throw new RowShapeError(`Column "${missing}" is declared, but the batch has only: ${have}.`, missing);
  }
  return { schema: { fields }, length: first.length, columns: vectors };
}

function columnVector(name: string, values: unknown, declared: DataType | undefined): Vector {
  if (isTypedArray(values)) {
    const type = elementType(values);
    if (declared === undefined || typeEquals(declared, type)) return viewVector(values, type);
    return writtenVector(name, values, declared, true);
  }
  if (Array.isArray(values)) {
    return writtenVector(name, values, declared ?? { kind: "null" }, declared !== undefined);
  }
  throw new RowShapeError(
    `Column "${name}" of a batch must be an array or a typed array, not ${describe(values)}.`,
    name,
  );
}

function viewVector(values: TypedArray, type: DataType): Vector {
  return {
    type,
    length: values.length,
    nullCount: 0,
    offset: 0,
    buffers: [null, new Uint8Array(values.buffer, values.byteOffset, values.byteLength)],
    children: [],
    dictionary: null,
  };
}

function writtenVector(column: string, values: ArrayLike<unknown>, type: DataType, declared: boolean): Vector {
  let sink: Sink = sinkFor(firstType(values, type), { column, declared }, (replacement) => {
    sink = replacement;
  });
  for (let index = 0; index < values.length; index++) sink.write(index, values[index]);
  return sink.finish(values.length);
}

/** Skips the open sink where the first value decides at once. */
function firstType(values: ArrayLike<unknown>, type: DataType): DataType {
  return type.kind === "null" ? (inferType(values[0]) ?? type) : type;
}
