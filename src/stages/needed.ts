/**
 * Which columns the SQL above a table needs of it. Only for a table that no block comes for: what a function would have
 * made is not known then, but the SQL over it must still be right.
 */
import { foldedName } from "../arrow/index.ts";
import {
  columnsOf,
  columnsRead,
  type Expression,
  type JoinNode,
  namedColumns,
  type Plan,
  type ZipNode,
} from "../plan/index.ts";
import { likelyColumns } from "./likely-columns.ts";
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
        joined(ofLeft(passed(above, right, rightOn, how !== "right" && how !== "full"), node), leftOn),
        joined(ofRight(passed(above, left, leftOn, true), node), rightOn),
      ];
    }
    case "zip":
      return [ofLeft(passed(above, node.right, [], true), node), ofRight(passed(above, node.left, [], true), node)];
    case "union":
      return node.inputs.map(() => above);
    default:
      return [above];
  }
}

/**
 * Without the names that columns of the right get by the suffix, because the left is taken to have a column of their
 * name.
 */
function ofLeft(names: Names, { left, right, suffix }: JoinNode | ZipNode): Names {
  const own = likelyColumns(left) ?? new Map<string, string | null>();
  const taken = new Set([...own.keys()].map(foldedName));
  const others = [...(likelyColumns(right)?.keys() ?? [])].filter((name) => taken.has(foldedName(name)));
  return without(
    names,
    others.map((name) => `${name}${suffix}`).filter((name) => !own.has(name)),
  );
}

/**
 * A column that the right is taken to have, and that is called by the suffix above, is not another one of the right's.
 */
function ofRight(names: Names, { right, suffix }: JoinNode | ZipNode): Names {
  const likely = likelyColumns(right);
  return without(
    names,
    [...(likely?.keys() ?? [])].map((name) => `${name}${suffix}`).filter((name) => likely?.has(name) !== true),
  );
}

/**
 * What must come from one side, because the other is known not to have it. Where that is not known, everything, if
 * without rows of this side there are none at all: else it would stand before what the other has. Of the right
 * everything in any case: what the left has stands before it.
 */
function passed(above: Names, other: Plan, keys: readonly string[], isDecisive: boolean): Names {
  const known = columnsOf(other);
  if (known === null) return isDecisive ? above : NOTHING;
  return without(
    above,
    known.filter((name) => !keys.includes(name)),
  );
}
