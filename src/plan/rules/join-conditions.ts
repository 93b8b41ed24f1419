/**
 * Where a condition on a join's rows can be moved to: the left input, the right, both, or neither. It is never moved to
 * an input whose rows may be missing in the result, because the condition also judges the nulls that stand for them.
 */
import { columnType } from "../column-type.ts";
import { columnsOf } from "../columns.ts";
import { column, columnsRead, type Expression, substitute } from "../expression/index.ts";
import type { JoinKind, JoinNode } from "../nodes/join.ts";
import { rightNames } from "../right-names.ts";

interface Sides {
  readonly left: Expression | null;
  readonly right: Expression | null;
}

const NOWHERE: Sides = { left: null, right: null };
/** Each row of the left is in the result with or without a partner, or only with one, but never as nulls. */
const LEFT_STAYS: ReadonlySet<JoinKind> = new Set(["inner", "left", "semi", "anti", "cross"]);
const RIGHT_STAYS: ReadonlySet<JoinKind> = new Set(["inner", "right", "cross"]);

/** Both null: the condition stays above the join. */
export function sidesOf(join: JoinNode, condition: Expression): Sides {
  const reads = columnsRead(condition, null);
  if (reads === null || reads.size === 0) return NOWHERE;
  const names = [...reads];
  const keys = new Set(join.leftOn);
  const onKeys = names.every((name) => keys.has(name));
  if (onKeys) return ofKeys(join, condition);
  if (isLeft(join, names)) {
    const alone = LEFT_STAYS.has(join.how);
    return alone ? { left: condition, right: null } : NOWHERE;
  }
  if (!RIGHT_STAYS.has(join.how)) return NOWHERE;
  const right = rightNames(join);
  if (right === null || !names.every((name) => right.has(name) || keys.has(name))) return NOWHERE;
  const usesKeys = names.some((name) => keys.has(name));
  if (usesKeys && !sameKeys(join)) return NOWHERE;
  const originals = new Map([...right, ...keyPairs(join)].map(([shown, own]) => [shown, column(own)]));
  return { left: null, right: substitute(condition, originals) };
}

/** Equal keys are the same value, so a condition on them is true on both sides or on neither. */
function ofKeys(join: JoinNode, condition: Expression): Sides {
  const both = sameKeys(join);
  if (!LEFT_STAYS.has(join.how) && !both) return NOWHERE;
  const originals = new Map(keyPairs(join).map(([left, right]) => [left, column(right)]));
  return { left: condition, right: both ? substitute(condition, originals) : null };
}

function isLeft(join: JoinNode, names: readonly string[]): boolean {
  if (join.how === "semi" || join.how === "anti") return true;
  const left = columnsOf(join.left);
  return left !== null && names.every((name) => left.includes(name));
}

function keyPairs({ leftOn, rightOn }: JoinNode): readonly [string, string][] {
  return leftOn.map((name, i) => [name, rightOn[i] ?? name]);
}

/**
 * In these types, equal values are the same in every respect. 0.0 and -0.0, or 1 and 1.0, are equal but not the same.
 */
const EXACT =
  /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\b.*|VARCHAR|BOOLEAN|BLOB|UUID|DATE|TIMESTAMP(_S|_MS|_NS)?)$/;

function sameKeys(join: JoinNode): boolean {
  return keyPairs(join).every(([left, right]) => {
    const type = columnType(join.left, left);
    return type !== null && EXACT.test(type) && type === columnType(join.right, right);
  });
}
