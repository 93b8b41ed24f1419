/**
 * Asks each scan only for the columns that something above it reads. A function counts like an expression if it
 * declares its columns, or provably reads only some; any other function reads all of them.
 */
import { foldedName } from "../../arrow/index.ts";
import { columnsOf } from "../columns.ts";
import { column, columnsRead, type Expression, isWindowed } from "../expression/index.ts";
import { type AggregateNode, aggregate } from "../nodes/aggregate.ts";
import type { FunctionNode } from "../nodes/function.ts";
import type { JoinNode } from "../nodes/join.ts";
import { type ProjectNode, project } from "../nodes/project.ts";
import type { ScanNode } from "../nodes/scan.ts";
import { type UnionNode, union } from "../nodes/union.ts";
import { type WindowNode, window } from "../nodes/window.ts";
import type { ZipNode } from "../nodes/zip.ts";
import { inputsOf, type Plan, withInputs } from "../plan.ts";
import { rightNames } from "../right-names.ts";

/** The columns that are needed of a node; null: all. */
type Needed = ReadonlySet<string> | null;

export function pruneColumns(plan: Plan): Plan {
  return prune(plan, null);
}

/** A scan whose rows are only counted. */
export function forItsRows(plan: ScanNode): Plan {
  return pruneScan(plan, new Set());
}

function prune(plan: Plan, needed: Needed): Plan {
  switch (plan.kind) {
    case "scan":
      return pruneScan(plan, needed);
    case "project":
    case "window":
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
    case "shuffle":
      return withInputs(plan, [prune(plan.input, needed)]);
    case "sort": {
      const keys = plan.keys.map(({ expression }) => expression);
      return withInputs(plan, [prune(plan.input, both(needed, readsOf(plan.input, keys)))]);
    }
    case "repartition": {
      const keys = plan.into.kind === "keys" ? plan.into.keys : [];
      return withInputs(plan, [prune(plan.input, both(needed, new Set(keys)))]);
    }
    case "distinct":
      // For whole rows, every column counts.
      return withInputs(plan, [prune(plan.input, plan.columns === null ? null : both(needed, new Set(plan.columns)))]);
    case "aggregate":
      return pruneAggregate(plan, needed);
    case "join":
      return pruneJoin(plan, needed);
    case "zip":
      return withInputs(
        plan,
        sideBySide(plan, needed).map(({ input, names }) => prune(input, names)),
      );
    default:
      // A sample hashes whole rows. The other kinds only remain if their columns are unknown.
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
  const { columns, columnsDeclared } = node.fn;
  const { batchFormat, keys = [] } = node.options;
  // A dead letter contains the whole row.
  if (columns === null || typeof node.options.onError === "object") return null;
  // What a function reads from a list of rows or a table does not name columns.
  const ofBatches = node.form === "mapBatches" || node.form === "mapGroups";
  if (ofBatches && batchFormat !== "columns" && !columnsDeclared) return null;
  return node.form === "filter" ? both(above, new Set(columns)) : new Set([...columns, ...keys]);
}

/** All keys stay, because they make the groups. An aggregate that nothing reads is not computed. */
function pruneAggregate({ input, keys, items }: AggregateNode, needed: Needed): Plan {
  const used = needed === null ? items : items.filter(({ name }) => needed.has(name));
  const kept = used.length === 0 && keys.length === 0 ? items.slice(0, 1) : used;
  const reads = readsOf(
    input,
    [...keys, ...kept].map(({ expression }) => expression),
  );
  return aggregate(prune(input, reads), keys, kept);
}

function pruneJoin(plan: JoinNode, needed: Needed): Plan {
  const [left, right] = sideBySide(plan, needed);
  const onlyKeys = plan.how === "semi" || plan.how === "anti";
  return withInputs(plan, [
    prune(plan.left, both(onlyKeys ? needed : left.names, new Set(plan.leftOn))),
    prune(plan.right, onlyKeys ? new Set(plan.rightOn) : both(right.names, new Set(plan.rightOn))),
  ]);
}

/**
 * What is needed of each side. A right column has a suffix because the left has the same name. As long as one of the
 * two is needed, so is the other: without it the suffix would disappear.
 */
function sideBySide(plan: JoinNode | ZipNode, needed: Needed): readonly [Side, Side] {
  const names = needed === null ? null : rightNames(plan);
  if (needed === null || names === null)
    return [
      { input: plan.left, names: null },
      { input: plan.right, names: null },
    ];
  const right = new Set([...names].filter(([shown]) => needed.has(shown)).map(([, own]) => own));
  const alike = new Set([...right].map(foldedName));
  const left = new Set((columnsOf(plan.left) ?? []).filter((name) => needed.has(name) || alike.has(foldedName(name))));
  return [
    { input: plan.left, names: left },
    { input: plan.right, names: right },
  ];
}

interface Side {
  readonly input: Plan;
  readonly names: Needed;
}

function pruneScan(plan: ScanNode, needed: Needed): Plan {
  const all = plan.open?.columns ?? null;
  if (needed === null || all === null || plan.open?.prunes !== true) return plan;
  const wanted = all.filter(({ name }) => needed.has(name));
  // Even if no column is read, rows must be counted: one narrow column stands for them.
  const kept =
    wanted.length > 0 ? wanted : (all.filter(({ type }) => /INT|BOOL|DATE|FLOAT|DOUBLE/.test(type)).slice(0, 1) ?? []);
  const columns = (kept.length > 0 ? kept : all.slice(0, 1)).map(({ name }) => name);
  return columns.length === all.length ? plan : Object.freeze({ ...plan, columns });
}

/** A window that nothing reads is not computed; the node may then become a projection. */
function pruneProject(plan: ProjectNode | WindowNode, needed: Needed): Plan {
  const used = needed === null ? plan.items : plan.items.filter(({ name }) => needed.has(name));
  const items = used.length === 0 && plan.mode === "select" ? plan.items.slice(0, 1) : used;
  const reads = readsOf(
    plan.input,
    items.map(({ expression }) => expression),
  );
  const node = items.some(({ expression }) => isWindowed(expression)) ? window : project;
  if (plan.mode === "select") return node(prune(plan.input, reads), "select", items, plan.operator);
  const computed = new Set(items.map(({ name }) => name));
  const passed = needed === null ? null : new Set([...needed].filter((name) => !computed.has(name)));
  return node(prune(plan.input, both(passed, reads)), "with", items, plan.operator);
}

/** An input with more columns than needed is cut to the same columns as the others. */
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
