/**
 * The physical side of a type: the buffers and children of its columns, and the width of a value. Knows nothing about
 * what values mean.
 */
import type { DataType, Field } from "./types.ts";

type Layout =
  /** The null type has only a length. */
  | { readonly kind: "none" }
  /** One bit a value. */
  | { readonly kind: "bits" }
  | { readonly kind: "fixed"; readonly width: number }
  /** Offsets and bytes. */
  | { readonly kind: "bytes"; readonly large: boolean }
  /** Offsets and one child. A map is a list of key-value structs. */
  | { readonly kind: "list"; readonly large: boolean }
  | { readonly kind: "fixedList"; readonly size: number }
  | { readonly kind: "struct" }
  /** Indices into another column. */
  | { readonly kind: "dictionary"; readonly width: number };

const WORD = { kind: "fixed", width: 4 } as const;
const LONG = { kind: "fixed", width: 8 } as const;

export function layoutOf(type: DataType): Layout {
  switch (type.kind) {
    case "null":
      return { kind: "none" };
    case "bool":
      return { kind: "bits" };
    case "int":
    case "float":
    case "decimal":
      return { kind: "fixed", width: type.bits / 8 };
    case "utf8":
    case "binary":
      return { kind: "bytes", large: type.large };
    case "fixedBinary":
      return { kind: "fixed", width: type.width };
    case "date":
      return type.unit === "day" ? WORD : LONG;
    case "time":
      return type.unit === "s" || type.unit === "ms" ? WORD : LONG;
    case "timestamp":
    case "duration":
      return LONG;
    case "interval":
      return { kind: "fixed", width: { yearMonth: 4, dayTime: 8, monthDayNano: 16 }[type.unit] };
    case "list":
      return { kind: "list", large: type.large };
    case "map":
      return { kind: "list", large: false };
    case "fixedList":
      return { kind: "fixedList", size: type.size };
    case "struct":
      return { kind: "struct" };
    case "dictionary":
      return { kind: "dictionary", width: type.index.bits / 8 };
  }
}

const NO_FIELDS: readonly Field[] = [];

/** The fields of a type's children, as Arrow nests them: a map has one child, the struct of its entries. */
export function childFields(type: DataType): readonly Field[] {
  switch (type.kind) {
    case "list":
    case "fixedList":
      return [type.child];
    case "struct":
      return type.children;
    case "map":
      return [{ name: "entries", nullable: false, type: { kind: "struct", children: [type.key, type.value] } }];
    default:
      return NO_FIELDS;
  }
}

/** The same type with other children; the inverse of childFields. */
export function withChildren(type: DataType, children: readonly Field[]): DataType {
  const [first] = children;
  switch (type.kind) {
    case "list":
    case "fixedList":
      return first === undefined ? type : { ...type, child: first };
    case "struct":
      return { kind: "struct", children };
    case "map": {
      if (first?.type.kind !== "struct") return type;
      const [key, value] = first.type.children;
      return key === undefined || value === undefined ? type : { kind: "map", key, value };
    }
    default:
      return type;
  }
}
