/** The SQL that tells a plan's column types without reading anything: sources are stood in for by typed nulls. */
import { type Column, inputsOf, type Plan, quoteIdentifier, type ScanNode } from "../../plan/index.ts";
import { applyNode, limited, nested, type Select, selectFrom, selectFromScan, selectSql } from "./select.ts";

export function describeSql(plan: Plan): string {
  return `DESCRIBE ${selectSql(typed(plan))}`;
}

function typed(plan: Plan): Select {
  switch (plan.kind) {
    case "scan":
      return { ...selectFromScan(plan), from: typedNulls(plan) };
    case "union":
      return selectFrom(`(${plan.inputs.map((input) => `(${selectSql(typed(input))})`).join(" UNION ALL BY NAME ")})`);
    case "limit":
      return limited(nested(typed(plan.input)), 0);
    case "function":
    case "fillNull": {
      const [input] = inputsOf(plan);
      if (plan.kind === "function" && plan.form === "filter" && input !== undefined) return typed(input);
      throw new Error(`the types after ${plan.kind} cannot be told without running it`);
    }
    case "aggregate":
    case "distinct":
    case "join":
    case "sort":
    case "shuffle":
    case "repartition":
    case "zip":
      throw new Error(`${plan.kind} needs a wide stage`);
    case "sample":
      return typed(plan.input);
    default:
      return applyNode(typed(plan.input), plan);
  }
}

/** One row of nothing but nulls, with the columns and types of the scan. */
export function typedNulls(scan: ScanNode): string {
  const columns: readonly Column[] = scan.open?.columns ?? [];
  const nulls = columns.map(({ name, type }) => `CAST(NULL AS ${castable(type)}) AS ${quoteIdentifier(name)}`);
  return `(SELECT ${nulls.join(", ")})`;
}

/** Two Arrow types that SQL has other words for. */
function castable(type: string): string {
  return type.replace(/\bNULL\b/g, '"NULL"').replace(/\bFLOAT16\b/g, "FLOAT");
}
