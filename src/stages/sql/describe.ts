/** SQL that returns the column types of a plan without reading anything: typed nulls replace the sources. */
import { quoteIdentifier } from "../../arrow/index.ts";
import { type Column, inputsOf, type Plan, type ScanNode } from "../../plan/index.ts";
import { holdsAllToAll, isRegionNode, relation } from "./relation.ts";
import { type Select, selectFrom, selectFromScan, selectSql } from "./select.ts";

export function describeSql(plan: Plan): string {
  const sql = `DESCRIBE ${selectSql(typed(plan))}`;
  if (!holdsAllToAll(plan)) return sql;
  // Such a task hands on BIGINT where the kernel made a HUGEINT, which is the type of a sum of whole numbers.
  const type = "regexp_replace(column_type, '\\bU?HUGEINT\\b', 'BIGINT', 'g') AS column_type";
  return `SELECT column_name, ${type} FROM (${sql})`;
}

function typed(plan: Plan): Select {
  if (plan.kind === "scan") return selectFromScan(plan, typedNulls(plan));
  const inputs = inputsOf(plan).map(typed);
  if (isRegionNode(plan)) return relation(plan, inputs);
  const [input = selectFrom()] = inputs;
  if (plan.kind === "repartition" || (plan.kind === "function" && plan.form === "filter")) return input;
  throw new Error(`the types after ${plan.kind} cannot be told without running it`);
}

/** One row that contains only nulls, with the columns and types of the scan. */
export function typedNulls(scan: ScanNode): string {
  return nullsOf(scan.open?.columns ?? []);
}

function nullsOf(columns: readonly Column[]): string {
  const nulls = columns.map(({ name, type }) => `CAST(NULL AS ${castable(type)}) AS ${quoteIdentifier(name)}`);
  return `(SELECT ${nulls.join(", ")})`;
}

/** Two types from Arrow whose name in SQL differs. */
function castable(type: string): string {
  return type.replace(/\bNULL\b/g, '"NULL"').replace(/\bFLOAT16\b/g, "FLOAT");
}
