/** The SQL that tells a plan's column types without reading anything: sources are stood in for by typed nulls. */
import { type Column, inputsOf, type Plan, quoteIdentifier, type ScanNode } from "../../plan/index.ts";
import { isRegionNode, relation } from "./relation.ts";
import { type Select, selectFrom, selectFromScan, selectSql } from "./select.ts";

/** What leaves a stage as HUGEINT (the sum of whole numbers) is made a BIGINT there. */
export function describeSql(plan: Plan): string {
  const type = "CASE column_type WHEN 'HUGEINT' THEN 'BIGINT' ELSE column_type END AS column_type";
  return `SELECT column_name, ${type} FROM (DESCRIBE ${selectSql(typed(plan))})`;
}

function typed(plan: Plan): Select {
  if (plan.kind === "scan") return { ...selectFromScan(plan), from: typedNulls(plan) };
  const inputs = inputsOf(plan).map(typed);
  if (isRegionNode(plan)) return relation(plan, inputs);
  const [input = selectFrom()] = inputs;
  if (plan.kind === "repartition" || (plan.kind === "function" && plan.form === "filter")) return input;
  throw new Error(`the types after ${plan.kind} cannot be told without running it`);
}

/** One row of nothing but nulls, with the columns and types of the scan. */
export function typedNulls(scan: ScanNode): string {
  return nullsOf(scan.open?.columns ?? []);
}

export function nullsOf(columns: readonly Column[]): string {
  const nulls = columns.map(({ name, type }) => `CAST(NULL AS ${castable(type)}) AS ${quoteIdentifier(name)}`);
  return `(SELECT ${nulls.join(", ")})`;
}

/** Two Arrow types that SQL has other words for. */
function castable(type: string): string {
  return type.replace(/\bNULL\b/g, '"NULL"').replace(/\bFLOAT16\b/g, "FLOAT");
}
