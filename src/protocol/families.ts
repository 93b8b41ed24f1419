/** Families of types (see typeFamily) that meet in one column. */
import type { TypeFamily } from "../arrow/index.ts";

export type { TypeFamily };

/** What is known about a column with values of both families; null if no type can hold both. */
export function meeting(a: TypeFamily, b: TypeFamily): TypeFamily | null {
  if (a === "?" || a === b) return b;
  if (b === "?") return a;
  if (typeof a === "string" || typeof b === "string" || a.length !== b.length) return null;
  const parts: TypeFamily[] = [];
  for (const [i, part] of a.entries()) {
    const other = b[i];
    const met = other === undefined ? null : meeting(part, other);
    if (met === null) return null;
    parts.push(met);
  }
  return parts;
}

/** In words: `lists of texts`. */
export function familyText(family: TypeFamily): string {
  if (typeof family === "string") return family;
  const [kind = "", ...inside] = family;
  if (kind === "structs") {
    const names = inside.filter((part) => typeof part === "string" && part.startsWith(":"));
    return `structs of ${names.map((name) => String(name).slice(1)).join(", ")}`;
  }
  return `${familyText(kind)} of ${inside.map(familyText).join(" to ")}`;
}
