/** Types of the columns that a function returns unchanged: those of its input, in plain form. */
import { type DeclaredTypes, plainType, type Schema, typeEquals } from "../../arrow/index.ts";
import type { PassedColumns } from "../../protocol/index.ts";

const NOTHING: DeclaredTypes = new Map();

export function passedTypes(passes: PassedColumns | undefined, schema: Schema): DeclaredTypes {
  if (passes === undefined) return NOTHING;
  const made = new Set(passes.made);
  const types = new Map(schema.fields.map((field) => [field.name, plainType(field.type)]));
  const passed = new Map(passes.rest ? [...types].filter(([name]) => !made.has(name)) : []);
  for (const [name, from] of Object.entries(passes.columns)) {
    const type = types.get(from);
    if (type === undefined) passed.delete(name);
    else passed.set(name, type);
  }
  // A null type says nothing: the values decide, as in columns of unknown type.
  for (const [name, type] of passed) if (type.kind === "null") passed.delete(name);
  return passed;
}

export function sameTypes(a: DeclaredTypes, b: DeclaredTypes): boolean {
  return (
    a.size === b.size &&
    [...a].every(([name, type]) => {
      const other = b.get(name);
      return other !== undefined && typeEquals(type, other);
    })
  );
}
