/**
 * Two tables side by side, by their keys or row by row. Where the columns are known they are listed, those of the right under
 * other names where the left has them; after a function only the kernel knows them, and they come as they are.
 */
import {
  columnsOf,
  type JoinKind,
  type JoinNode,
  quoteIdentifier,
  quoteText,
  someNode,
  type ZipNode,
} from "../../plan/index.ts";

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

/** `left` and `right` stand where tables stand. */
export function joined(node: JoinNode, left: string, right: string): string {
  const pairs = node.leftOn.map((name, i) => `l.${q(name)} = r.${q(node.rightOn[i] ?? name)}`);
  const on = node.how === "cross" ? "" : ` ON ${pairs.length === 0 ? "TRUE" : pairs.join(" AND ")}`;
  return `SELECT ${list(node)} FROM ${left} AS l ${WORDS[node.how]} ${right} AS r${on}`;
}

function list(node: JoinNode): string {
  if (node.how === "semi" || node.how === "anti") return "l.*";
  const merged = new Map(keepsRight(node.how) ? node.leftOn.map((name, i) => [name, node.rightOn[i] ?? name]) : []);
  const key = (name: string, other: string) => `coalesce(l.${q(name)}, r.${q(other)}) AS ${q(name)}`;
  const left = columnsOf(node.left);
  const right = columnsOf(node.right);
  if (left === null || right === null) {
    const replaced = [...merged].map(([name, other]) => key(name, other));
    const replace = replaced.length === 0 ? "" : ` REPLACE (${replaced.join(", ")})`;
    const exclude = node.rightOn.length === 0 ? "" : ` EXCLUDE (${node.rightOn.map(q).join(", ")})`;
    return `l.*${replace}, r.*${exclude}`;
  }
  const keys = new Set(node.rightOn);
  const rest = right.filter((name) => !keys.has(name));
  return [
    ...left.map((name) => {
      const other = merged.get(name);
      return other === undefined ? `l.${q(name)}` : key(name, other);
    }),
    ...besides(left, rest, node.suffix),
  ].join(", ");
}

function besides(left: readonly string[], right: readonly string[], suffix: string): readonly string[] {
  const taken = new Set(left);
  return right.map((name) => (taken.has(name) ? `r.${q(name)} AS ${q(`${name}${suffix}`)}` : `r.${q(name)}`));
}

/** Rows of the right come without a match, so that their keys are theirs alone. */
const keepsRight = (how: JoinKind) => how === "right" || how === "full";

const LEFT = q("__spillway_left");
const RIGHT = q("__spillway_right");

export function zipped(node: ZipNode, left: string, right: string): string {
  const names = columnsOf(node.left);
  const others = columnsOf(node.right);
  const items =
    names === null || others === null
      ? `l.* EXCLUDE (${LEFT}), r.* EXCLUDE (${RIGHT})`
      : [...names.map((name) => `l.${q(name)}`), ...besides(names, others, node.suffix)].join(", ");
  const longer = (side: string) =>
    `error(${quoteText(`zip: the ${side} dataset has more rows than the other. Both must have equally many: use limit, or join by a key.`)})`;
  const even = `CASE WHEN l.${LEFT} IS NULL THEN ${longer("right")} WHEN r.${RIGHT} IS NULL THEN ${longer("left")} ELSE TRUE END`;
  // With several threads a positional join takes the rows of a union as they come; numbered rows keep their places.
  const isNumbered = someNode(node, ({ kind }) => kind === "union");
  const mark = isNumbered ? "row_number() OVER ()" : "TRUE";
  const marked = (table: string, name: string) => `(SELECT *, ${mark} AS ${name} FROM ${table})`;
  const tables = (how: string) => `${marked(left, LEFT)} AS l ${how} ${marked(right, RIGHT)} AS r`;
  if (!isNumbered) return `SELECT ${items} FROM ${tables("POSITIONAL JOIN")} WHERE ${even}`;
  return `SELECT ${items} FROM ${tables("FULL JOIN")} ON l.${LEFT} = r.${RIGHT} WHERE ${even} ORDER BY l.${LEFT}`;
}
