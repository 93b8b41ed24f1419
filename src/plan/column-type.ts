/**
 * The SQL type of a column that comes unchanged from a scan, or that a function declares; null if only running the plan
 * can tell.
 */
import { parseTypeName, typeName } from "../arrow/index.ts";
import type { Plan } from "./plan.ts";

export function columnType(plan: Plan, name: string): string | null {
  switch (plan.kind) {
    case "scan":
      return plan.open?.columns?.find((each) => each.name === name)?.type ?? null;
    case "filter":
    case "limit":
    case "sample":
    case "sort":
    case "shuffle":
    case "repartition":
    case "distinct":
    case "drop":
    case "dropNull":
      return columnType(plan.input, name);
    case "project":
    case "window": {
      const item = plan.items.find((each) => each.name === name);
      if (item === undefined) return plan.mode === "with" ? columnType(plan.input, name) : null;
      return item.expression.kind === "column" ? columnType(plan.input, item.expression.name) : null;
    }
    case "function":
      return plan.form === "filter" ? columnType(plan.input, name) : declaredType(plan.options.schema?.[name]);
    default:
      return null;
  }
}

function declaredType(type: string | undefined): string | null {
  return type === undefined ? null : typeName(parseTypeName(type));
}
