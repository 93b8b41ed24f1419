/**
 * Asks each scan only for the columns that something above it reads. Functions that declare their columns, or provably
 * read only some, count like expressions; any other function reads them all.
 */
import { columnsOf } from "../columns.ts";
import { column, columnsRead, type Expression } from "../expression/index.ts";
import type { FunctionNode } from "../nodes/function.ts";
import { type ProjectNode, project } from "../nodes/project.ts";
import type { ScanNode } from "../nodes/scan.ts";
import { type UnionNode, union } from "../nodes/union.ts";
import { inputsOf, type Plan, withInputs } from "../plan.ts";

/** Names needed of a node; null: all it has. */
type Needed = ReadonlySet<string> | null;

export function pruneColumns(plan: Plan): Plan {
  return prune(plan, null);
}

function prune(plan: Plan, needed: Needed): Plan {
  switch (plan.kind) {
    case "scan":
      return pruneScan(plan, needed);
    case "project":
      return pruneProject(plan, needed);
    case "filter":
      return withInputs(plan, [prune(plan.input, both(needed, readsOf(plan.input, [plan.predicate])))]);
    case "explode":
      return withInputs(plan, [prune(plan.input, both(needed, new Set([plan.column])))]);
    case "function":
      return withInputs(plan, [prune(plan.input, neededBy(plan, needed))]);
    case "union":
      return pruneUnion(plan, needed);
    case "limit":
      return withInputs(plan, [prune(plan.input, needed)]);
    default:
      // A sample hashes whole rows; the others only remain where the columns are not known.
      return withInputs(
        plan,
        inputsOf(plan).map((input) => prune(input, null)),
      );
  }
}

function both(a: Needed, b: Needed): Needed {
  return a === null || b === null ? null : new Set([...a, ...b]);
}

function readsOf(input: Plan, expressions: readonly Expression[]): Needed {
  const available = columnsOf(input);
  let reads: Needed = new Set();
  for (const expression of expressions) reads = both(reads, columnsRead(expression, available));
  return reads;
}

function neededBy(node: FunctionNode, above: Needed): Needed {
  const { columns } = node.fn;
  // A dead letter holds the whole row.
  if (columns === null || typeof node.options.onError === "object") return null;
  if (node.form === "mapBatches" && node.options.batchFormat !== "columns") return null;
  return node.form === "filter" ? both(above, new Set(columns)) : new Set(columns);
}

function pruneScan(plan: ScanNode, needed: Needed): Plan {
  const all = plan.open?.columns ?? null;
  if (needed === null || all === null || plan.open?.prunes !== true) return plan;
  const wanted = all.filter(({ name }) => needed.has(name));
  // Rows must still be counted where no column is read: one narrow column stands for them.
  const kept =
    wanted.length > 0 ? wanted : (all.filter(({ type }) => /INT|BOOL|DATE|FLOAT|DOUBLE/.test(type)).slice(0, 1) ?? []);
  const columns = (kept.length > 0 ? kept : all.slice(0, 1)).map(({ name }) => name);
  return columns.length === all.length ? plan : Object.freeze({ ...plan, columns });
}

function pruneProject(plan: ProjectNode, needed: Needed): Plan {
  const used = needed === null ? plan.items : plan.items.filter(({ name }) => needed.has(name));
  const items = used.length === 0 && plan.mode === "select" ? plan.items.slice(0, 1) : used;
  const reads = readsOf(
    plan.input,
    items.map(({ expression }) => expression),
  );
  if (plan.mode === "select") return project(prune(plan.input, reads), "select", items, plan.operator);
  const computed = new Set(items.map(({ name }) => name));
  const passed = needed === null ? null : new Set([...needed].filter((name) => !computed.has(name)));
  return project(prune(plan.input, both(passed, reads)), "with", items, plan.operator);
}

/** Inputs that hand on more than was asked for are cut to the same columns as the others. */
function pruneUnion(plan: UnionNode, needed: Needed): Plan {
  const names = columnsOf(plan);
  const known = names !== null && plan.inputs.every((input) => columnsOf(input) !== null);
  if (needed === null || !known) return union(plan.inputs.map((input) => prune(input, null)));
  const wanted = names.filter((name) => needed.has(name));
  const target = wanted.length > 0 ? wanted : names.slice(0, 1);
  const asked = new Set(target);
  return union(
    plan.inputs.map((input) => {
      const pruned = prune(input, asked);
      const own = columnsOf(pruned);
      if (own !== null && own.length === target.length && own.every((name, i) => name === target[i])) return pruned;
      const items = target.map((name) => ({ name, expression: column(name) }));
      return project(pruned, "select", items, "select");
    }),
  );
}
