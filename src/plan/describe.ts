/** A plan as indented lines, outermost operator first. */
import { formatSize } from "../units/index.ts";
import { expressionSql, type NamedExpression, namedSql, type SortKey } from "./expression/index.ts";
import { type FunctionNode, functionLabel } from "./nodes/function.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { RepartitionNode } from "./nodes/repartition.ts";
import type { ScanNode } from "./nodes/scan.ts";
import { inputsOf, type Plan } from "./plan.ts";

const MAX_ITEMS = 12;
const MAX_TEXT = 160;

export function planLines(plan: Plan, indent = 0): readonly string[] {
  const line = `${"  ".repeat(indent)}${planLine(plan)}`;
  return [line, ...inputsOf(plan).flatMap((input) => planLines(input, indent + 1))];
}

function planLine(plan: Plan): string {
  switch (plan.kind) {
    case "scan":
      return scanLine(plan);
    case "project":
      return `${plan.operator} ${items(plan.items)}`;
    case "window":
      return `${plan.operator} over all rows ${items(plan.items)}`;
    case "drop":
      return `drop ${plan.names.join(", ")}`;
    case "rename":
      return `rename ${[...plan.names].map(([from, to]) => `${from} -> ${to}`).join(", ")}`;
    case "dropNull":
      return `dropNull ${plan.columns?.join(", ") ?? "any column"}`;
    case "fillNull":
      return plan.fill.kind === "everywhere" ? "fillNull" : `fillNull ${[...plan.fill.values.keys()].join(", ")}`;
    case "filter":
      return `filter ${short(expressionSql(plan.predicate))}`;
    case "function":
      return functionLine(plan);
    case "limit":
      return [plan.limit === null ? "" : `limit ${plan.limit}`, plan.offset === 0 ? "" : `offset ${plan.offset}`]
        .filter((part) => part !== "")
        .join(" ");
    case "union":
      return `union of ${plan.inputs.length}`;
    case "aggregate":
      return plan.keys.length === 0
        ? `aggregate ${items(plan.items)}`
        : `groupBy ${items(plan.keys)}${plan.items.length === 0 ? "" : `: ${items(plan.items)}`}`;
    case "distinct":
      return `distinct ${plan.columns?.join(", ") ?? "rows"}`;
    case "join":
      return joinLine(plan);
    case "sort":
      return `sort by ${list(plan.keys.map(sortKey))}`;
    case "shuffle":
      return `randomShuffle (seed ${plan.seed})`;
    case "repartition":
      return `repartition ${partitions(plan.into)}`;
    case "zip":
      return "zip";
    case "explode":
      return `explode ${plan.column}`;
    case "sample":
      return plan.size.kind === "rows"
        ? `sample ${plan.size.rows} rows (seed ${plan.seed})`
        : `sample ${plan.size.fraction} (seed ${plan.seed})`;
  }
}

function functionLine(plan: FunctionNode): string {
  const { keys } = plan.options;
  const by = keys === undefined ? "" : ` by ${list(keys)}`;
  const reads = plan.fn.columns === null ? "" : ` reads ${plan.fn.columns.join(", ") || "nothing"}`;
  return `${functionLabel(plan)}${by}${reads}`;
}

function joinLine({ how, leftOn, rightOn }: JoinNode): string {
  const keys = leftOn.map((name, i) => (name === rightOn[i] ? name : `${name} = ${rightOn[i]}`));
  return `${how} join${keys.length === 0 ? "" : ` on ${list(keys)}`}`;
}

function sortKey({ expression, descending, nulls }: SortKey): string {
  return `${expressionSql(expression)}${descending ? " descending" : ""}${nulls === "first" ? " nulls first" : ""}`;
}

function partitions(into: RepartitionNode["into"]): string {
  switch (into.kind) {
    case "parts":
      return `into ${into.count}`;
    case "rows":
      return `by ${into.rows} rows`;
    case "bytes":
      return `by ${formatSize(into.bytes)}`;
    case "keys":
      return `by ${list(into.keys)}${into.count === null ? "" : ` into ${into.count}`}`;
  }
}

function scanLine(plan: ScanNode): string {
  const all = plan.open?.columns?.length;
  const parts = [`${plan.source.name} ${short(plan.source.label)}`];
  if (plan.columns !== null) parts.push(`columns: ${list(plan.columns)} (${plan.columns.length} of ${all})`);
  if (plan.filters.length > 0)
    parts.push(`filter: ${short(plan.filters.map((part) => expressionSql(part)).join(" AND "))}`);
  for (const { fraction, seed } of plan.samples) parts.push(`sample: ${fraction} (seed ${seed})`);
  if (plan.limit !== null) parts.push(`first ${plan.limit} rows`);
  return parts.join("; ");
}

function items(named: readonly NamedExpression[]): string {
  return list(named.map(({ name, expression }) => namedSql(name, expression)));
}

function list(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_ITEMS).map(short).join(", ");
  return texts.length > MAX_ITEMS ? `${shown}, … ${texts.length - MAX_ITEMS} more` : shown;
}

function short(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
