/**
 * Which columns of each table the SQL of a fed task looks at. It only hands on the others, under their own or another
 * name, so wide rows can go through the kernel without them (src/worker/cargo/). In doubt it sees all columns.
 */

import type { JoinNode, ProjectNode, SortNode, WindowNode, ZipNode } from "../plan/index.ts";
import { columnsOf, columnsRead, type Expression, inputsOf, type Plan } from "../plan/index.ts";
import type { SeenColumns } from "../protocol/index.ts";
import { isRegionNode } from "./sql/relation.ts";

/** Null: all columns. */
type Names = ReadonlySet<string> | null;

/** What SQL does with the columns of a table; it hands on those that are in none of the three. */
interface Seen {
  /** Reads values. */
  readonly read: Names;
  /** Asks which values are equal. */
  readonly matched: Names;
  /** Asks for the order of values. */
  readonly ordered: ReadonlySet<string>;
}

const NO_NAMES: ReadonlySet<string> = new Set();
const NOTHING: Seen = { read: NO_NAMES, matched: NO_NAMES, ordered: NO_NAMES };
const ALL: Seen = { ...NOTHING, read: null };

/** For each node from `top` downwards, to the first functions and sources: what is seen of its rows. */
export function seenBelow(top: Plan): ReadonlyMap<Plan, Seen> {
  const seen = new Map<Plan, Seen>();
  walk(top, NOTHING, seen);
  return seen;
}

/** As tasks get it; null: it may look at all. */
export function seenColumns({ read, matched, ordered }: Seen): SeenColumns | null {
  if (read === null) return null;
  return { read: [...read], matched: matched === null ? null : [...matched], ordered: [...ordered] };
}

function walk(plan: Plan, above: Seen, seen: Map<Plan, Seen>): void {
  // A part of the plan that is used twice has two readers.
  const other = seen.get(plan);
  seen.set(plan, other === undefined ? above : both(other, above));
  const below = ofInputs(plan, above);
  for (const [i, input] of inputsOf(plan).entries()) walk(input, below[i] ?? ALL, seen);
}

function ofInputs(plan: Plan, above: Seen): readonly Seen[] {
  // A function starts anew from rows, which mapGroups gets sorted by its keys.
  if (plan.kind === "function") return [{ ...NOTHING, ordered: new Set(plan.options.keys) }];
  if (!isRegionNode(plan)) return [];
  switch (plan.kind) {
    case "limit":
    case "shuffle":
    case "drop":
    // Whether a value is null is known without the value.
    case "dropNull":
      return [above];
    case "sort":
      return [both(above, sorted(plan))];
    case "filter":
      return [both(above, reading([plan.predicate], plan.input))];
    case "distinct":
      return [both(above, { ...NOTHING, matched: plan.columns === null ? null : new Set(plan.columns) })];
    case "aggregate":
      return [
        reading(
          [...plan.keys, ...plan.items].map(({ expression }) => expression),
          plan.input,
        ),
      ];
    case "project":
    case "window":
      return [projected(plan, above)];
    case "rename": {
      const back = new Map([...plan.names].map(([from, to]) => [to, from]));
      return [mapped(above, (name) => back.get(name) ?? name)];
    }
    case "explode":
      return [both(above, readingNames(new Set([plan.column])))];
    case "join":
      return [
        both(above, readingNames(new Set(plan.leftOn))),
        both(unsuffixed(plan, above), readingNames(new Set(plan.rightOn))),
      ];
    case "zip":
      return [above, unsuffixed(plan, above)];
    default:
      return inputsOf(plan).map(() => ALL);
  }
}

function sorted({ keys, input }: SortNode): Seen {
  const expressions = keys.map(({ expression }) => expression);
  const columns = expressions.flatMap((each) => (each.kind === "column" ? [each.name] : []));
  const others = expressions.filter(({ kind }) => kind !== "column");
  return { ...reading(others, input), ordered: new Set(columns) };
}

/** An item that is only a column hands it on, under its own or another name. */
function projected({ mode, items, input }: ProjectNode | WindowNode, above: Seen): Seen {
  if (above.read === null) return ALL;
  const isLookedAt = (name: string) => namesIn(above).has(name);
  const computed = items.filter(({ name, expression }) => expression.kind !== "column" || isLookedAt(name));
  const own = reading(
    computed.map(({ expression }) => expression),
    input,
  );
  // All columns above may be compared, also those that hand on.
  if (above.matched === null) return ALL;
  if (mode === "select") return own;
  const made = new Set(items.map(({ name }) => name));
  return both(
    own,
    kept(above, (name) => !made.has(name)),
  );
}

/** A name above may be the suffixed name of a right column. */
function unsuffixed({ suffix }: JoinNode | ZipNode, above: Seen): Seen {
  const own = mapped(above, (name) => (name.endsWith(suffix) ? name.slice(0, -suffix.length) : name));
  return both(above, own);
}

function reading(expressions: readonly Expression[], input: Plan): Seen {
  const available = columnsOf(input);
  return expressions.map((each) => readingNames(columnsRead(each, available))).reduce(both, NOTHING);
}

const readingNames = (read: Names): Seen => ({ ...NOTHING, read });

function namesIn({ read, matched, ordered }: Seen): ReadonlySet<string> {
  return new Set([...(read ?? []), ...(matched ?? []), ...ordered]);
}

function mapped({ read, matched, ordered }: Seen, to: (name: string) => string): Seen {
  const each = (names: ReadonlySet<string>) => new Set([...names].map(to));
  return { read: read && each(read), matched: matched && each(matched), ordered: each(ordered) };
}

function kept({ read, matched, ordered }: Seen, keeps: (name: string) => boolean): Seen {
  const each = (names: ReadonlySet<string>) => new Set([...names].filter(keeps));
  return { read: read && each(read), matched: matched && each(matched), ordered: each(ordered) };
}

function both(a: Seen, b: Seen): Seen {
  return { read: joined(a.read, b.read), matched: joined(a.matched, b.matched), ordered: union(a.ordered, b.ordered) };
}

function joined(a: Names, b: Names): Names {
  return a === null || b === null ? null : union(a, b);
}

const union = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> => new Set([...a, ...b]);
