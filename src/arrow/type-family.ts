/**
 * The family of a type: types of one family may be in the same column. Numbers are one family, texts another. It is
 * small enough to travel with each block, so that the blocks of all tasks can be compared where they meet.
 */
import { childFields } from "./layout.ts";
import { plainType } from "./schema.ts";
import type { DataType } from "./types.ts";

/**
 * A word, or a word and what is inside it. "?" stands for nulls of no type, which fit every family. Names of fields
 * begin with a colon.
 */
export type TypeFamily = string | readonly TypeFamily[];

export function typeFamily(of: DataType): TypeFamily {
  const type = plainType(of);
  switch (type.kind) {
    case "int":
    case "float":
    case "decimal":
      return "numbers";
    case "utf8":
      return "texts";
    case "binary":
    case "fixedBinary":
      return "bytes";
    case "date":
      return "times";
    case "timestamp":
      return type.timezone === null ? "times" : "times with a zone";
    case "duration":
    case "interval":
      return "intervals";
    case "time":
      return "times of day";
    case "bool":
      return "booleans";
    case "null":
      return "?";
    case "list":
    case "fixedList":
      return ["lists", typeFamily(type.child.type)];
    case "struct": {
      const fields = childFields(type).map(({ name, type: inner }) => [`:${name}`, typeFamily(inner)] as const);
      return ["structs", ...fields.sort(([a], [b]) => (a < b ? -1 : 1)).flat()];
    }
    case "map":
      return ["maps", typeFamily(type.key.type), typeFamily(type.value.type)];
    case "dictionary":
      return typeFamily(type.value);
  }
}
