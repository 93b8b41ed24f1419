/**
 * References to cargo, as values of the kernel. A cargo column goes through the kernel as a column of the same name
 * with a number for each row, null where the value is null. Its type is a struct whose only field names the cargo
 * column, so wherever SQL puts the column, and whatever it calls it, the result's types tell what to fetch.
 */
import { type DataType, isNullAt, type Vector, viewOf } from "../../arrow/index.ts";

const FIELD = "__spillway_cargo_";
const NUMBER: DataType = { kind: "int", bits: 32, signed: false };

function referenceType(column: number): DataType {
  return { kind: "struct", children: [{ name: `${FIELD}${column}`, type: NUMBER, nullable: true }] };
}

/** The cargo column that values of the type refer to; null: the type is another one. */
export function referredColumn(type: DataType): number | null {
  if (type.kind !== "struct" || type.children.length !== 1) return null;
  const name = type.children[0]?.name ?? "";
  return name.startsWith(FIELD) ? Number(name.slice(FIELD.length)) : null;
}

/** References to the values of a vector: `numberOf` gives the number for the value of a row. */
export function referencesTo(values: Vector, column: number, numberOf: (row: number) => number): Vector {
  const { length } = values;
  const numbers = new Uint32Array(length);
  const bits = new Uint8Array((length + 7) >>> 3);
  let nullCount = 0;
  for (let row = 0; row < length; row++) {
    if (isNullAt(values, row)) nullCount++;
    else {
      numbers[row] = numberOf(row);
      bits[row >>> 3] = (bits[row >>> 3] as number) | (1 << (row & 7));
    }
  }
  const validity = nullCount === 0 ? null : bits;
  const plain = { length, nullCount, offset: 0, dictionary: null };
  const child: Vector = { ...plain, type: NUMBER, buffers: [validity, new Uint8Array(numbers.buffer)], children: [] };
  return { ...plain, type: referenceType(column), buffers: [validity], children: [child] };
}

/** No number: the reference is null. */
export const NO_ROW = -1;

/** The numbers of a vector of references. */
export function numbersIn(references: Vector): Float64Array {
  const { length, offset } = references;
  const [child] = references.children;
  const found = new Float64Array(length).fill(NO_ROW);
  const bytes = child?.buffers[1] ?? null;
  if (child === undefined || bytes === null) return found;
  const numbers = viewOf(Uint32Array, bytes, child.offset + offset, length);
  for (let row = 0; row < length; row++) {
    if (!isNullAt(references, row) && !isNullAt(child, offset + row)) found[row] = numbers[row] as number;
  }
  return found;
}
