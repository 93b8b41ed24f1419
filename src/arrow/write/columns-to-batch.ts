/**
 * The result of a batch function as a batch. Typed arrays are used as they are, without looking at a value; plain
 * arrays get the type of their values.
 */
import { RowShapeError } from "../../errors/index.ts";
import { isTypedArray, type TypedArray } from "../../realm/index.ts";
import { typeEquals } from "../schema.ts";
import type { Columns, DataType, Field, RecordBatch, Vector } from "../types.ts";
import { elementType, inferType, isNumbers, isPlain } from "./infer.ts";
import { describe, inRow, type Place, placeOf } from "./misfit.ts";
import type { DeclaredTypes } from "./row-builder.ts";
import type { Sink } from "./sink.ts";
import { sinkFor } from "./sink-for.ts";

const NOTHING: DeclaredTypes = new Map();

/**
 * Typed arrays are borrowed: the batch is valid as long as the caller does not change them. `passed` are the types of
 * columns that the function returns unchanged; declared types take precedence.
 */
export function columnsToBatch(
  columns: Columns,
  declared: DeclaredTypes = NOTHING,
  passed: DeclaredTypes = NOTHING,
): RecordBatch {
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
    const vector = columnVector(values, declared.get(name) ?? passed.get(name), placeOf(name, declared, passed));
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

function columnVector(values: unknown, known: DataType | undefined, place: Place): Vector {
  if (isTypedArray(values)) {
    const type = elementType(values);
    if (known === undefined || typeEquals(known, type)) return viewVector(values, type);
    return writtenVector(values, known, place);
  }
  if (Array.isArray(values)) return writtenVector(values, known ?? { kind: "null" }, place);
  throw new RowShapeError(
    `Column "${place.column}" of a batch must be an array or a typed array, not ${describe(values)}.`,
    place.column,
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

function writtenVector(values: ArrayLike<unknown>, type: DataType, place: Place): Vector {
  let sink: Sink = sinkFor(firstType(values, type), place, (replacement) => {
    sink = replacement;
  });
  if (!isNumbers(values) || sink.writeAll?.(0, values) !== true) {
    let index = 0;
    try {
      for (; index < values.length; index++) sink.write(index, values[index]);
    } catch (thrown) {
      throw inRow(thrown, index, "the result");
    }
  }
  return sink.finish(values.length);
}

/** Finds the type at once if the first value decides it, which avoids an open sink. */
function firstType(values: ArrayLike<unknown>, type: DataType): DataType {
  return type.kind === "null" ? (inferType(values[0]) ?? type) : type;
}
