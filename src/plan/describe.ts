/** A plan as indented lines, outermost operator first. */
import { expressionSql, type NamedExpression, namedSql } from "./expression/index.ts";
import { functionLabel } from "./nodes/function.ts";
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
      return `${functionLabel(plan)}${plan.fn.columns === null ? "" : ` reads ${plan.fn.columns.join(", ") || "nothing"}`}`;
    case "limit":
      return [plan.limit === null ? "" : `limit ${plan.limit}`, plan.offset === 0 ? "" : `offset ${plan.offset}`]
        .filter((part) => part !== "")
        .join(" ");
    case "union":
      return `union of ${plan.inputs.length}`;
    case "aggregate":
      return plan.keys.length === 0
        ? `aggregate ${items(plan.items)}`
        : `groupBy ${items(plan.keys)}: ${items(plan.items)}`;
    case "distinct":
      return `distinct ${plan.columns?.join(", ") ?? "rows"}`;
    case "join":
      return `${plan.how} join${plan.leftOn.length === 0 ? "" : ` on ${plan.leftOn.map((name, i) => (name === plan.rightOn[i] ? name : `${name} = ${plan.rightOn[i]}`)).join(", ")}`}`;
    case "sort":
      return `sort ${list(plan.keys.map(({ expression, descending, nulls }) => `${expressionSql(expression)}${descending ? " descending" : ""} nulls ${nulls}`))}`;
    case "shuffle":
      return `randomShuffle (seed ${plan.seed})`;
    case "repartition":
      return `repartition by ${plan.into.kind}`;
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
