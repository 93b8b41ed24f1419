/**
 * Floating point columns of Parquet files, kept from the kernel's own use of their statistics. No writer counts NaN
 * there, which is above every number in SQL: a row group with values up to 3 and a NaN was left out for `x > 5`, all of
 * one with values of 1 and a NaN was taken for `x = 1`, and NaN of the other sign was not in a Bloom filter. Behind an
 * expression the kernel has no statistics of the column, and NaN is one value; row groups are left out by
 * row-groups.ts, which knows what may be asked.
 */
import { type DataType, parseTypeName, quoteIdentifier, typeName } from "../../arrow/index.ts";

export function holdsFloats(type: string): boolean {
  return /\b(FLOAT|DOUBLE)\b/.test(type);
}

/** The value as it is, but for the sign of NaN. */
export function withoutStatistics(value: string, type: string): string {
  return holdsFloats(type) ? opaque(value, parseTypeName(type)) : value;
}

function opaque(value: string, type: DataType): string {
  switch (type.kind) {
    case "float":
      return `CASE WHEN isnan(${value}) THEN CAST('nan' AS ${typeName(type)}) ELSE ${value} END`;
    // All of the list, which the kernel does not copy for it.
    case "list":
      return holdsFloats(typeName(type)) ? `${value}[1:]` : value;
    case "struct": {
      if (!holdsFloats(typeName(type))) return value;
      const fields = type.children.map(({ name, type: inner }) => {
        const field = quoteIdentifier(name);
        return `${field} := ${opaque(`(${value}).${field}`, inner)}`;
      });
      return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${fields.join(", ")}) END`;
    }
    // Of a map it has none.
    default:
      return value;
  }
}
