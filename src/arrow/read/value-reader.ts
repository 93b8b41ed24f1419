/** Reads the values of one column as JavaScript values, which are all copies. */
import type { DataType, ValueOptions, Vector } from "../types.ts";
import { generatedReader } from "./generated-code.ts";
import { BinaryReader, BoolReader, FixedBinaryReader, NullReader, TextColumnReader } from "./leaf-readers.ts";
import { DictionaryReader, FixedListReader, ListReader, MapReader, StructReader } from "./nested-readers.ts";

export interface ValueReader {
  /** Reads from this vector from now on. */
  bind(vector: Vector): void;
  at(index: number): unknown;
  /** Copies values [from, to) into `out`, starting at position `into`. */
  fill(out: unknown[], into: number, from: number, to: number): void;
}

/** `column` is the name used in errors. */
export function valueReader(type: DataType, options: ValueOptions, column: string): ValueReader {
  const generated = generatedReader(type, options, column);
  if (generated !== null) return generated;
  switch (type.kind) {
    case "null":
      return new NullReader();
    case "utf8":
      return new TextColumnReader();
    case "binary":
      return new BinaryReader();
    case "fixedBinary":
      return new FixedBinaryReader(type.width);
    case "list":
      return new ListReader(valueReader(type.child.type, options, column));
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
