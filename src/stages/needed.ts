/**
 * Which columns the SQL above a table needs of it. Only for a table that no block comes for: what a function would have
 * made is not known then, but the SQL over it must still be right.
 */
import { columnsOf, columnsRead, type Expression, namedColumns, type Plan } from "../plan/index.ts";
import type { RegionNode } from "./sql/relation.ts";

export type Names = ReadonlySet<string>;
export const NOTHING: Names = new Set();

function read(expressions: readonly Expression[]): Set<string> {
  return new Set(expressions.flatMap((each) => [...(columnsRead(each, null) ?? namedColumns(each))]));
}

export const joined = (...sets: readonly Iterable<string>[]): Names => new Set(sets.flatMap((set) => [...set]));
const without = (names: Names, taken: Iterable<string>): Names => {
  const out = new Set(taken);
  return new Set([...names].filter((name) => !out.has(name)));
};

/** By input of the node: what it reads itself, and what `above` passes through it. */
export function neededOf(node: RegionNode, above: Names): readonly Names[] {
  switch (node.kind) {
    case "project":
    case "window": {
      const own = read(node.items.map(({ expression }) => expression));
      if (node.mode === "select") return [own];
      const made = node.items.map(({ name }) => name);
      return [joined(without(above, made), own)];
    }
    case "aggregate":
      return [
        without(
          read([...node.keys, ...node.items].map(({ expression }) => expression)),
          node.keys
            .filter(({ name, expression }) => expression.kind !== "column" || expression.name !== name)
            .map(({ name }) => name),
        ),
      ];
    case "rename": {
      const back = new Map([...node.names].map(([from, to]) => [to, from]));
      return [
        joined(
          [...above].map((name) => back.get(name) ?? name),
          node.names.keys(),
        ),
      ];
    }
    case "drop":
      return [joined(above, node.names)];
    case "dropNull":
    case "distinct":
      return [joined(above, node.columns ?? [])];
    case "filter":
      return [joined(above, read([node.predicate]))];
    case "explode":
      return [joined(above, [node.column])];
    case "sort":
      return [joined(above, read(node.keys.map(({ expression }) => expression)))];
    case "join": {
      const { how, left, right, leftOn, rightOn } = node;
      if (how === "semi" || how === "anti") return [joined(above, leftOn), new Set(rightOn)];
      return [
        joined(passed(above, right, rightOn, how !== "right" && how !== "full"), leftOn),
        joined(passed(above, left, leftOn, true), rightOn),
      ];
    }
    case "zip":
      return [passed(above, node.right, [], true), passed(above, node.left, [], true)];
    case "union":
      return node.inputs.map(() => above);
    default:
      return [above];
  }
}

/**
 * What must come from one side, because the other is known not to have it. Where that is not known, everything, if without
 * rows of this side there are none at all: else it would stand before what the other has. Of the right everything in any case: what the left has stands before it.
 */
function passed(above: Names, other: Plan, keys: readonly string[], isDecisive: boolean): Names {
  const known = columnsOf(other);
  if (known === null) return isDecisive ? above : NOTHING;
  return without(
    above,
    known.filter((name) => !keys.includes(name)),
  );
}
