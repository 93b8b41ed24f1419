/**
 * Keeps the kernel from using the statistics of floating point columns in Parquet files. Writers do not count NaN
 * there, although NaN is above every number in SQL. So for `x > 5` the kernel left out a row group with values up to 3
 * and a NaN; for `x = 1` it took all rows of a group with values of 1 and a NaN; and NaN of the other sign was missing
 * from a Bloom filter. Behind an expression the kernel has no statistics of the column, and NaN is a single value.
 * row-groups.ts leaves out row groups instead: it knows which statistics can be trusted.
 */
import { type DataType, parseTypeName, quoteIdentifier, typeName } from "../../arrow/index.ts";

export function holdsFloats(type: string): boolean {
  return /\b(FLOAT|DOUBLE)\b/.test(type);
}

/** The unchanged value, except for the sign of NaN. */
export function withoutStatistics(value: string, type: string): string {
  return holdsFloats(type) ? opaque(value, parseTypeName(type)) : value;
}

function opaque(value: string, type: DataType): string {
  switch (type.kind) {
    case "float":
      return `CASE WHEN isnan(${value}) THEN CAST('nan' AS ${typeName(type)}) ELSE ${value} END`;
    // The slice is the whole list. The kernel does not copy a list for it.
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
    // The kernel uses no statistics of maps.
    default:
      return value;
  }
}
