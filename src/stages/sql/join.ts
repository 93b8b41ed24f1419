/**
 * Two tables side by side, by their keys or row by row. Where the columns are known they are listed, those of the right under
 * other names where the left has them; after a function only who has the tables knows them, and a mark stands for the list.
 */
import { createHash } from "node:crypto";
import {
  columnsOf,
  isDescribable,
  type JoinKind,
  type JoinNode,
  quoteIdentifier,
  quoteText,
  someNode,
  type ZipNode,
} from "../../plan/index.ts";
import { type SideBySide, sideBySide } from "../../protocol/index.ts";
import { type Select, selectFrom, tableSql } from "./select.ts";

const WORDS: Readonly<Record<JoinKind, string>> = {
  inner: "INNER JOIN",
  left: "LEFT JOIN",
  right: "RIGHT JOIN",
  full: "FULL JOIN",
  semi: "SEMI JOIN",
  anti: "ANTI JOIN",
  cross: "CROSS JOIN",
};

const q = quoteIdentifier;

export function joined(node: JoinNode, left: Select, right: Select): Select {
  const { how, leftOn, rightOn, suffix } = node;
  const pairs = leftOn.map((name, i) => ({ left: name, right: rightOn[i] ?? name }));
  const equal = pairs.map((pair) => `l.${q(pair.left)} = r.${q(pair.right)}`);
  const on = how === "cross" ? "" : ` ON ${equal.length === 0 ? "TRUE" : equal.join(" AND ")}`;
  const from = `${tableSql(left)} AS l ${WORDS[how]} ${tableSql(right)} AS r${on}`;
  const merged = keepsRight(how) ? pairs : [];
  const select =
    how === "semi" || how === "anti"
      ? selectFrom(`(SELECT l.* FROM ${from})`, left, right)
      : both(node, { operator: "join", except: rightOn, merged, suffix }, left, right, from);
  if (pairs.length === 0 || (isDescribable(node.left) && isDescribable(node.right))) return select;
  const compared = { left: tableSql(left), right: tableSql(right), keys: pairs };
  return { ...select, compared: [...select.compared, compared] };
}

/** Rows of the right come without a match, so that their keys are theirs alone. */
const keepsRight = (how: JoinKind) => how === "right" || how === "full";

const LEFT = q("__spillway_left");
const RIGHT = q("__spillway_right");

export function zipped(node: ZipNode, left: Select, right: Select): Select {
  const longer = (side: string) =>
    `error(${quoteText(`zip: the ${side} dataset has more rows than the other. Both must have equally many: use limit, or join by a key.`)})`;
  const even = `CASE WHEN l.${LEFT} IS NULL THEN ${longer("right")} WHEN r.${RIGHT} IS NULL THEN ${longer("left")} ELSE TRUE END`;
  // With several threads a positional join takes the rows of a union as they come; numbered rows keep their places.
  const isNumbered = someNode(node, ({ kind }) => kind === "union");
  const mark = isNumbered ? "row_number() OVER ()" : "TRUE";
  const marked = (table: Select, name: string) => `(SELECT *, ${mark} AS ${name} FROM ${tableSql(table)})`;
  const tables = (how: string) => `${marked(left, LEFT)} AS l ${how} ${marked(right, RIGHT)} AS r`;
  const from = isNumbered
    ? `${tables("FULL JOIN")} ON l.${LEFT} = r.${RIGHT} WHERE ${even} ORDER BY l.${LEFT}`
    : `${tables("POSITIONAL JOIN")} WHERE ${even}`;
  return both(node, { operator: "zip", except: [], merged: [], suffix: node.suffix }, left, right, from);
}

/** The columns of both out of `from`, which has them as `l` and `r`. */
function both(node: JoinNode | ZipNode, spec: SideBySide, left: Select, right: Select, from: string): Select {
  const [names, others] = [columnsOf(node.left), columnsOf(node.right)];
  if (names !== null && others !== null) {
    return selectFrom(`(SELECT ${sideBySide(spec, names, others)} FROM ${from})`, left, right);
  }
  const unnamed = { ...spec, left: tableSql(left), right: tableSql(right) };
  // By what it is of, so that texts can be put together without their marks becoming one.
  const mark = `{columns ${createHash("sha256").update(JSON.stringify(unnamed)).digest("hex").slice(0, 16)}}`;
  const select = selectFrom(`(SELECT ${mark} FROM ${from})`, left, right);
  return { ...select, unnamed: [...select.unnamed, { mark, ...unnamed }] };
}
