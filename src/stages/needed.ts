/**
 * Which columns the SQL above a table needs from it. Only used for a table that gets no blocks: the output columns of a
 * function are then unknown, but the SQL over the table must still be valid.
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

/** For each input of the node: what the node itself reads, and what passes through it for `above`. */
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
 * Leaves out names that right columns get by the suffix, because the left is expected to have a column of their name.
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
 * Leaves out suffixed names of columns that the right is expected to have: they are no further columns of the right.
 */
function ofRight(names: Names, { right, suffix }: JoinNode | ZipNode): Names {
  const likely = likelyColumns(right);
  return without(
    names,
    [...(likely?.keys() ?? [])].map((name) => `${name}${suffix}`).filter((name) => likely?.has(name) !== true),
  );
}

/**
 * The names of `above` that one side of a join must have, because the other side does not have them. If the columns of
 * the other side are unknown, a decisive side (the join has no rows without it) must have all names, and another side
 * none. The right side counts as decisive in every join: columns of the left hide its columns of the same name, so a
 * name too many does no harm.
 */
function passed(above: Names, other: Plan, keys: readonly string[], isDecisive: boolean): Names {
  const known = columnsOf(other);
  if (known === null) return isDecisive ? above : NOTHING;
  return without(
    above,
    known.filter((name) => !keys.includes(name)),
  );
}
