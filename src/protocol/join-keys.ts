/**
 * Which types the keys of a join may have: types whose values can be equal. Checked before anything runs if the types
 * are known. If a function makes them, the task that has both tables checks them, however the rows got there.
 */
import { OptionError } from "../errors/index.ts";

/** Keys that are compared in a step's SQL. Both sides are SQL in the place of a table name, and may contain marks. */
export interface ComparedKeys {
  readonly left: string;
  readonly right: string;
  readonly keys: readonly KeyPair[];
}

interface KeyPair {
  readonly left: string;
  readonly right: string;
}

/** Null: unknown. */
export type TypeOf = (name: string) => string | null;

export function checkKeyTypes(keys: readonly KeyPair[], leftType: TypeOf, rightType: TypeOf): void {
  for (const { left, right } of keys) {
    const [a, b] = [leftType(left), rightType(right)];
    if (a !== null && b !== null && !canEqual(a, b)) refuse({ left, right }, a, b, "which are never equal");
  }
}

/**
 * Checks types that were unknown when rows were sent to partitions, so that each side was hashed without knowing the
 * other. Whole numbers and decimals are compared with a FLOAT by rounding them to its 24 bits, each in its own way: a
 * partition is not certain to contain both of two equal keys.
 */
export function checkFoundKeyTypes(keys: readonly KeyPair[], leftType: TypeOf, rightType: TypeOf): void {
  checkKeyTypes(keys, leftType, rightType);
  for (const { left, right } of keys) {
    const [a, b] = [leftType(left), rightType(right)];
    if (a === null || b === null || familyOf(a) !== "number" || (a === "FLOAT") === (b === "FLOAT")) continue;
    if (a !== "DOUBLE" && b !== "DOUBLE") refuse({ left, right }, a, b, "which are equal only after rounding");
  }
}

function refuse({ left, right }: KeyPair, a: string, b: string, why: string): never {
  throw new OptionError(
    `join: the key "${left}" is ${a} on the left and "${right}" ${b} on the right, ${why}. Cast one of them: withColumn("${right}", col("${right}").cast("${a}")).`,
  );
}

/** A column that contains only nulls equals nothing, and is no mistake. */
function canEqual(a: string, b: string): boolean {
  return familyOf(a) === familyOf(b) || UNTYPED.test(a) || UNTYPED.test(b);
}

const UNTYPED = /\bNULL\b/;

/** Types whose values can be equal. */
function familyOf(type: string): string {
  if (/^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|FLOAT16|DOUBLE|DECIMAL\b.*)$/.test(type)) return "number";
  if (/^(DATE|TIMESTAMP\b.*|TIMESTAMP_(S|MS|NS))$/.test(type)) return "time";
  if (/^(VARCHAR|ENUM\b.*|UUID|JSON)$/.test(type)) return "text";
  return type;
}
