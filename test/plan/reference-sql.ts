/** A resolved plan as one SQL text, node by node and with no thought of speed: what the rules must not change. */
import { quoteIdentifier } from "../../src/arrow/index.ts";
import { columnsOf, expressionSql, type JoinNode, namedSql, type Plan, type ScanNode } from "../../src/plan/index.ts";

export function referenceSql(plan: Plan): string {
  const from = (input: Plan) => `(${referenceSql(input)})`;
  switch (plan.kind) {
    case "scan":
      return scanSql(plan);
    case "project": {
      const named = new Map(plan.items.map(({ name, expression }) => [name, namedSql(name, expression)]));
      const names = plan.mode === "select" ? [...named.keys()] : (columnsOf(plan) ?? []);
      return `SELECT ${names.map((name) => named.get(name) ?? quoteIdentifier(name)).join(", ")} FROM ${from(plan.input)}`;
    }
    case "filter":
      return `SELECT * FROM ${from(plan.input)} WHERE ${expressionSql(plan.predicate)}`;
    case "limit":
      return `${referenceSql(plan.input)} LIMIT ${plan.limit ?? 1e9} OFFSET ${plan.offset}`;
    case "union":
      return plan.inputs.map((input) => `SELECT * FROM ${from(input)}`).join(" UNION ALL BY NAME ");
    case "aggregate": {
      const list = [...plan.keys, ...plan.items].map(({ name, expression }) => namedSql(name, expression)).join(", ");
      return `SELECT ${list} FROM ${from(plan.input)}${plan.keys.length === 0 ? "" : " GROUP BY ALL"}`;
    }
    case "distinct": {
      const on = plan.columns === null ? "" : ` ON (${plan.columns.map(quoteIdentifier).join(", ")})`;
      return `SELECT DISTINCT${on} * FROM ${from(plan.input)}`;
    }
    case "sort": {
      const keys = plan.keys.map(
        ({ expression, descending, nulls }) =>
          `${expressionSql(expression)} ${descending ? "DESC" : "ASC"} NULLS ${nulls.toUpperCase()}`,
      );
      return `SELECT * FROM ${from(plan.input)} ORDER BY ${keys.join(", ")}`;
    }
    case "shuffle":
    case "repartition":
      return referenceSql(plan.input);
    case "join":
      return joinSql(plan);
    default:
      throw new Error(`${plan.kind} has no SQL here`);
  }
}

function scanSql({ source, columns, filters, limit }: ScanNode): string {
  const list = columns?.map(quoteIdentifier).join(", ") ?? "*";
  const where = filters.length === 0 ? "" : ` WHERE ${filters.map((each) => expressionSql(each)).join(" AND ")}`;
  return `SELECT ${list} FROM ${source.label}${where}${limit === null ? "" : ` LIMIT ${limit}`}`;
}

function joinSql(plan: JoinNode): string {
  const { how, leftOn, rightOn } = plan;
  const equal = leftOn.map((name, i) => `l.${quoteIdentifier(name)} = r.${quoteIdentifier(rightOn[i] ?? name)}`);
  const on = how === "cross" ? "" : ` ON ${equal.join(" AND ")}`;
  const left = columnsOf(plan.left) ?? [];
  const right = how === "semi" || how === "anti" ? [] : (columnsOf(plan.right) ?? []);
  const list = [
    ...left.map((name) => {
      const i = leftOn.indexOf(name);
      const key = `coalesce(l.${quoteIdentifier(name)}, r.${quoteIdentifier(rightOn[i] ?? name)})`;
      const both = i >= 0 && (how === "right" || how === "full");
      return `${both ? key : `l.${quoteIdentifier(name)}`} AS ${quoteIdentifier(name)}`;
    }),
    ...right
      .filter((name) => !rightOn.includes(name))
      .map(
        (name) =>
          `r.${quoteIdentifier(name)} AS ${quoteIdentifier(left.includes(name) ? `${name}${plan.suffix}` : name)}`,
      ),
  ];
  const tables = `(${referenceSql(plan.left)}) l ${how.toUpperCase()} JOIN (${referenceSql(plan.right)}) r${on}`;
  return `SELECT ${list.join(", ")} FROM ${tables}`;
}
