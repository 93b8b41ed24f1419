/**
 * Two tables side by side, by their keys or row by row. If the columns are known they are listed, with right columns
 * renamed where the left has the same name. After a function only the task, which has the tables, knows them: a mark
 * stands for the list.
 */
import { createHash } from "node:crypto";
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import { columnsOf, isDescribable, type JoinKind, type JoinNode, someNode, type ZipNode } from "../../plan/index.ts";
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

export function joined(node: JoinNode, leftRows: Select, rightRows: Select): Select {
  const [left, right] = [allAsked(leftRows), allAsked(rightRows)];
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

/**
 * A join with an empty side asks the other side for only its first rows, or for none. To a zip that would look like an
 * empty left side: the right's rows, which the kernel still hands on, would seem too many. So all rows of a zip are
 * computed first.
 */
function allAsked(select: Select): Select {
  if (!select.byPlace) return select;
  const rows = `(WITH ${ZIPPED} AS MATERIALIZED (SELECT * FROM ${tableSql(select)}) SELECT * FROM ${ZIPPED})`;
  return { ...selectFrom(rows, select), byPlace: false };
}

/** Rows of the right are kept without a match. Their keys then exist on the right only. */
const keepsRight = (how: JoinKind) => how === "right" || how === "full";

const LEFT = q("__spillway_left");
const RIGHT = q("__spillway_right");
const FIRST = q("__spillway_first");
const ZIPPED = q("__spillway_zipped");

export function zipped(node: ZipNode, left: Select, right: Select): Select {
  // With several threads, a positional join takes the rows of a union in any order; numbered rows keep their places.
  const from = someNode(node, ({ kind }) => kind === "union") ? byNumber(left, right) : byPlace(left, right);
  const select = both(node, { operator: "zip", except: [], merged: [], suffix: node.suffix }, left, right, from);
  return { ...select, byPlace: true };
}

function longer(side: "left" | "right"): string {
  return `error(${quoteText(`zip: the ${side} dataset has more rows than the other. Both must have equally many: use limit, or join by a key.`)})`;
}

function byNumber(left: Select, right: Select): string {
  const numbered = (table: Select, name: string) =>
    `(SELECT *, row_number() OVER () AS ${name} FROM ${tableSql(table)})`;
  const even = `CASE WHEN l.${LEFT} IS NULL THEN ${longer("right")} WHEN r.${RIGHT} IS NULL THEN ${longer("left")} ELSE TRUE END`;
  const tables = `${numbered(left, LEFT)} AS l FULL JOIN ${numbered(right, RIGHT)} AS r`;
  return `${tables} ON l.${LEFT} = r.${RIGHT} WHERE ${even} ORDER BY l.${LEFT}`;
}

/**
 * `LEFT` and `RIGHT` are true on the last row of their side. When a limit above has enough rows, the kernel ends the
 * left side but still hands on rows of the right. So right rows without a left one are an error only if they begin with
 * the first row.
 */
function byPlace(left: Select, right: Select): string {
  const last = (name: string) => `lead(FALSE, 1, TRUE) OVER () AS ${name}`;
  const tables = [
    `(SELECT *, ${last(LEFT)} FROM ${tableSql(left)}) AS l`,
    `(SELECT *, ${last(RIGHT)}, row_number() OVER () = 1 AS ${FIRST} FROM ${tableSql(right)}) AS r`,
  ];
  const even = [
    `CASE WHEN l.${LEFT} = r.${RIGHT} THEN TRUE`,
    `WHEN l.${LEFT} IS NULL THEN CASE WHEN r.${FIRST} THEN ${longer("right")} ELSE FALSE END`,
    `WHEN l.${LEFT} AND NOT r.${RIGHT} THEN ${longer("right")}`,
    `ELSE ${longer("left")} END`,
  ];
  return `${tables.join(" POSITIONAL JOIN ")} WHERE ${even.join(" ")}`;
}

/** The columns of both sides of `from`, which has them as `l` and `r`. */
function both(node: JoinNode | ZipNode, spec: SideBySide, left: Select, right: Select, from: string): Select {
  const [names, others] = [columnsOf(node.left), columnsOf(node.right)];
  if (names !== null && others !== null) {
    return selectFrom(`(SELECT ${sideBySide(spec, names, others)} FROM ${from})`, left, right);
  }
  const { uses = [] } = node;
  const isPlanned = { left: names !== null, right: others !== null };
  const unnamed = { ...spec, left: tableSql(left), right: tableSql(right), isPlanned, uses };
  // The mark depends on the content, so that texts with different marks can be combined.
  const mark = `{columns ${createHash("sha256").update(JSON.stringify(unnamed)).digest("hex").slice(0, 16)}}`;
  const select = selectFrom(`(SELECT ${mark} FROM ${from})`, left, right);
  return { ...select, unnamed: [...select.unnamed, { mark, ...unnamed }] };
}
