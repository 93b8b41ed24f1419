/**
 * Prepares a plan as the user wrote it for the rules. It opens the sources, checks every column name if the columns are
 * known, and replaces operators that are shorthand for select or filter. Nothing of the job runs here. Each node is
 * resolved once, over its resolved inputs, and keeps the result.
 */
import { OptionError } from "../errors/index.ts";
import { checkExpressions, checkMadeNames, checkNames, checkOwnNames } from "./checks.ts";
import { columnsOf } from "./columns.ts";
import { type Describe, isDescribable } from "./describable.ts";
import {
  call,
  cast,
  column,
  conjunction,
  type Expression,
  isWindowed,
  literal,
  type NamedExpression,
} from "./expression/index.ts";
import { fillableBy } from "./fillable.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { withNameUses } from "./name-uses.ts";
import type { FillNullNode } from "./nodes/fill-null.ts";
import { filter } from "./nodes/filter.ts";
import type { FunctionNode } from "./nodes/function.ts";
import { functionLabel } from "./nodes/function.ts";
import { type ProjectNode, project } from "./nodes/project.ts";
import type { RenameNode } from "./nodes/rename.ts";
import type { ScanNode } from "./nodes/scan.ts";
import { type SortNode, sort } from "./nodes/sort.ts";
import { type UnionNode, union } from "./nodes/union.ts";
import { inputsOf, type Plan, withInputs } from "./plan.ts";
import { resolveAggregate } from "./resolve-aggregate.ts";
import { resolveJoin } from "./resolve-join.ts";
import { resolveWindow, resolveWindowFilter } from "./resolve-window.ts";
import type { Column } from "./source.ts";

/** A node as it was written, the plan that it became, and the same of its inputs. */
export interface Resolved {
  readonly written: Plan;
  readonly plan: Plan;
  readonly inputs: readonly Resolved[];
}

const nodes = new KeptAnswers<Resolved>();
const plans = new KeptAnswers<Plan>();

/** Names of unknown columns are checked when the columns become known (name-uses.ts). */
export function resolve(plan: Plan, describe: Describe): Promise<Plan> {
  return plans.of(plan, async () => withNameUses(await resolved(plan, describe)));
}

function resolved(written: Plan, describe: Describe): Promise<Resolved> {
  return nodes.of(written, async () => {
    if (written.kind === "scan") return { written, plan: await opened(written), inputs: [] };
    const inputs: Resolved[] = [];
    for (const input of inputsOf(written)) inputs.push(await resolved(input, describe));
    const over = withInputs(
      written,
      inputs.map(({ plan }) => plan),
    );
    return { written, plan: await resolveNode(over, describe), inputs };
  });
}

async function opened(scan: ScanNode): Promise<ScanNode> {
  const open = scan.open ?? (await scan.source.open());
  checkMadeNames(open.columns?.map(({ name }) => name) ?? [], scan.source.name);
  return scan.open === null ? Object.freeze({ ...scan, open }) : scan;
}

async function resolveNode(plan: Plan, describe: Describe): Promise<Plan> {
  switch (plan.kind) {
    case "project":
      return resolveProject(plan);
    case "drop": {
      const available = checkNames(plan.input, plan.names, "drop");
      if (available === null) return plan;
      const dropped = new Set(plan.names);
      const kept = available.filter((name) => !dropped.has(name));
      if (kept.length === 0) throw new OptionError("drop: no column would be left.");
      return project(plan.input, "select", kept.map(same), "drop");
    }
    case "rename":
      return resolveRename(plan);
    case "dropNull": {
      const available = checkNames(plan.input, plan.columns ?? [], "dropNull");
      const names = plan.columns ?? available;
      if (names === null) return plan;
      return names.length === 0 ? plan.input : filter(plan.input, allPresent(names));
    }
    case "fillNull":
      return resolveFillNull(plan, describe);
    case "filter":
      if (isWindowed(plan.predicate)) return resolveWindowFilter(plan);
      checkExpressions(plan.input, [plan.predicate], "filter");
      return plan;
    case "explode":
      checkNames(plan.input, [plan.column], "explode");
      return plan;
    case "function":
      checkFunction(plan);
      return plan;
    case "union":
      return resolveUnion(plan, describe);
    case "aggregate":
      return resolveAggregate(plan);
    case "distinct":
      checkNames(plan.input, plan.columns ?? [], "distinct");
      return plan;
    case "join":
      return resolveJoin(plan, describe);
    case "sort":
      return resolveSort(plan);
    case "repartition":
      if (plan.into.kind === "keys") checkNames(plan.input, plan.into.keys, "repartition");
      return plan;
    case "zip":
      checkOwnNames(columnsOf(plan), "zip");
      return plan;
    default:
      return plan;
  }
}

const same = (name: string): NamedExpression => ({ name, expression: column(name) });

function allPresent(names: readonly string[]): Expression {
  return conjunction(names.map((name) => call("isNotNull", column(name))));
}

function resolveProject(plan: ProjectNode): Plan {
  if (plan.items.some(({ expression }) => isWindowed(expression))) return resolveWindow(plan);
  checkExpressions(
    plan.input,
    plan.items.map(({ expression }) => expression),
    plan.operator,
  );
  checkMadeNames(columnsOf(plan) ?? plan.items.map(({ name }) => name), plan.operator);
  return plan;
}

function resolveRename(plan: RenameNode): Plan {
  const available = checkNames(plan.input, plan.names.keys(), "rename");
  checkMadeNames(columnsOf(plan) ?? plan.names.values(), "rename");
  if (available === null) return plan;
  const renamed = available.map((name) => plan.names.get(name) ?? name);
  const twice = renamed.find((name, i) => renamed.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new OptionError(`rename: two columns would be called "${twice}". Drop or rename the other one first.`);
  }
  const items = available.map((name) => ({ name: plan.names.get(name) ?? name, expression: column(name) }));
  return project(plan.input, "select", items, "rename");
}

/** A constant does not order rows, and SQL would take a number for the position of a column. */
function resolveSort(plan: SortNode): Plan {
  checkExpressions(
    plan.input,
    plan.keys.map(({ expression }) => expression),
    "sort",
  );
  const keys = plan.keys.filter(({ expression }) => expression.kind !== "literal");
  return keys.length === 0 ? plan.input : sort(plan.input, keys);
}

function checkFunction(plan: FunctionNode): void {
  checkNames(plan.input, plan.options.keys ?? [], "groupBy");
  if (plan.fn.columnsDeclared) checkNames(plan.input, plan.fn.columns ?? [], functionLabel(plan));
}

async function resolveFillNull(plan: FillNullNode, describe: Describe): Promise<Plan> {
  const { fill, input } = plan;
  if (fill.kind === "columns") {
    checkNames(input, fill.values.keys(), "fillNull");
    const items = [...fill.values].map(([name, value]) => filled(name, value));
    return project(input, "with", items, "fillNull");
  }
  if (!isDescribable(input)) {
    throw new OptionError(
      "fillNull: the columns and types of a function's result are unknown before it runs, so one value cannot be used for all columns. Name the columns: fillNull({ price: 0 }).",
    );
  }
  const columns = await describe(input);
  const items = columns.filter(({ type }) => fillableBy(type, fill.value)).map(({ name }) => filled(name, fill.value));
  return items.length === 0 ? input : project(input, "with", items, "fillNull");

  function filled(name: string, value: Parameters<typeof literal>[0]): NamedExpression {
    return { name, expression: call("coalesce", column(name), literal(value)) };
  }
}

/** Every input gets the columns of the first, in its order, and in the types that hold the values of all. */
async function resolveUnion(plan: UnionNode, describe: Describe): Promise<Plan> {
  const inputs = plan.inputs.filter((input) => columnsOf(input)?.length !== 0);
  const [first, ...others] = inputs;
  if (first === undefined) return plan.inputs[0] ?? plan;
  const names = columnsOf(first);
  if (names === null || others.some((other) => columnsOf(other) === null)) return union(inputs);
  for (const other of others) checkSameColumns(names, columnsOf(other) ?? []);
  const types = inputs.every(isDescribable) ? await describe(union(inputs)) : null;
  return union(await Promise.all(inputs.map((input) => aligned(input, names, types, describe))));
}

function checkSameColumns(names: readonly string[], others: readonly string[]): void {
  const extra = others.find((name) => !names.includes(name));
  const missing = names.find((name) => !others.includes(name));
  if (extra === undefined && missing === undefined) return;
  const what = missing === undefined ? `has "${extra}", which the first lacks` : `has no "${missing}"`;
  throw new OptionError(
    `union: the columns differ: one of the datasets ${what}. First: ${names.join(", ")}. Other: ${others.join(", ")}. Use select, drop or rename to make them the same.`,
  );
}

async function aligned(
  input: Plan,
  names: readonly string[],
  types: readonly Column[] | null,
  describe: Describe,
): Promise<Plan> {
  const own = columnsOf(input) ?? names;
  const wanted = new Map(types?.map(({ name, type }) => [name, type]));
  const has = new Map(types === null ? [] : (await describe(input)).map(({ name, type }) => [name, type]));
  const items = names.map((name): NamedExpression => {
    const type = wanted.get(name);
    const fits = type === undefined || has.get(name) === type;
    return { name, expression: fits ? column(name) : cast(column(name), type) };
  });
  const unchanged = items.every(({ name, expression }, i) => expression.kind === "column" && own[i] === name);
  return unchanged ? input : project(input, "select", items, "union");
}
