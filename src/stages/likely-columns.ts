/**
 * The columns that a plan's rows would have, if no row comes: a join or a group needs them for a side without rows.
 * Columns that a function makes follow from its declared types, and from its source if that shows which columns it
 * passes through.
 */
import { parseTypeName, typeName } from "../arrow/index.ts";
import { columnsOf, type FunctionNode, type JoinNode, type Plan, type ZipNode } from "../plan/index.ts";
import { besideNames } from "../protocol/index.ts";

/** The type is null if it is unknown. */
type LikelyColumns = ReadonlyMap<string, string | null>;

/** Null if nothing is known. */
export function likelyColumns(plan: Plan): LikelyColumns | null {
  switch (plan.kind) {
    case "scan":
      return plan.columns === null && plan.open?.columns
        ? new Map(plan.open.columns.map(({ name, type }) => [name, type]))
        : byName(plan);
    case "function":
      return ofFunction(plan);
    case "project":
    case "window": {
      if (plan.mode === "select") return byName(plan);
      const input = likelyColumns(plan.input);
      return input === null ? null : new Map([...input, ...plan.items.map(({ name }) => [name, null] as const)]);
    }
    case "drop": {
      const dropped = new Set(plan.names);
      return changed(plan.input, (name) => (dropped.has(name) ? null : name));
    }
    case "rename":
      return changed(plan.input, (name) => plan.names.get(name) ?? name);
    case "filter":
    case "dropNull":
    case "limit":
    case "repartition":
    case "sample":
    case "shuffle":
    case "sort":
    case "distinct":
      return likelyColumns(plan.input);
    case "join":
      return plan.how === "semi" || plan.how === "anti" ? likelyColumns(plan.left) : bothSides(plan, plan.rightOn);
    case "zip":
      return bothSides(plan, []);
    default:
      return byName(plan);
  }
}

function byName(plan: Plan): LikelyColumns | null {
  const names = columnsOf(plan);
  return names === null ? null : new Map(names.map((name) => [name, null]));
}

/** `keys` are the right's keys, which the left's keys represent. */
function bothSides(plan: JoinNode | ZipNode, keys: readonly string[]): LikelyColumns | null {
  const [left, right] = [likelyColumns(plan.left), likelyColumns(plan.right)];
  if (left === null || right === null) return null;
  const beside = besideNames([...left.keys()], plan.suffix);
  const others = [...right].filter(([name]) => !keys.includes(name));
  return new Map([...left, ...others.map(([name, type]) => [beside(name), type] as const)]);
}

function changed(input: Plan, name: (before: string) => string | null): LikelyColumns | null {
  const before = likelyColumns(input);
  if (before === null) return null;
  return new Map(
    [...before].flatMap(([column, type]) => {
      const after = name(column);
      return after === null ? [] : [[after, type] as const];
    }),
  );
}

function ofFunction({ form, fn: { returns }, input, options }: FunctionNode): LikelyColumns | null {
  if (form === "filter") return likelyColumns(input);
  const { schema, passes } = options;
  if (schema === undefined && returns === null) return null;
  const before = likelyColumns(input) ?? new Map<string, string | null>();
  const columns = new Map<string, string | null>();
  if (returns?.rest === true) for (const [name, type] of before) columns.set(name, passes?.rest === true ? type : null);
  for (const name of returns?.names ?? []) columns.set(name, null);
  for (const [name, from] of Object.entries(passes?.columns ?? {})) columns.set(name, before.get(from) ?? null);
  for (const [name, type] of Object.entries(schema ?? {})) {
    columns.set(name, typeName(parseTypeName(type)));
  }
  return columns;
}
