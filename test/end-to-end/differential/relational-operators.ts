/** Operators that look at many rows: groups, joins, orders, partitions. */
import { type AggregateExpr, col, count } from "spillway";
import { condition } from "./expressions.ts";
import {
  type Any,
  type Choice,
  type Columns,
  isTaken,
  type Kind,
  keysIn,
  type Maker,
  NO_ORDER,
  named,
  quoted,
  quotedList,
  without,
} from "./step.ts";

interface Item {
  readonly expr: AggregateExpr<Any, Any>;
  readonly sql: string;
  readonly kind: Kind;
}

/** Every aggregate that a column can have; of those that only give one of several values, none. */
function aggregates(columns: Columns, choice: Choice): Readonly<Record<string, Item>> {
  const found: Record<string, Item> = { rows: { expr: count(), sql: "count(*)", kind: "number" } };
  const names = [...columns.keys()].filter((name) => columns.get(name) !== "bag");
  if (names.length === 0) return found;
  for (let i = 0; i < 1 + choice.below(4); i++) {
    const name = choice.of(names);
    const item = choice.of(ofColumn(name, columns.get(name) ?? "number"))();
    const some = choice.chance(4) ? condition(columns, choice) : null;
    found[`a${i}`] =
      some === null
        ? item
        : { ...item, expr: item.expr.where(some.expr), sql: `${item.sql} FILTER (WHERE ${some.sql})` };
  }
  return found;
}

function ofColumn(name: string, kind: Kind): readonly (() => Item)[] {
  const c = col(name);
  const q = quoted(name);
  const counted = () => ({ expr: c.count(), sql: `count(${q})`, kind: "number" }) as const;
  if (kind === "approximate") return [counted];
  const any: (() => Item)[] = [
    counted,
    () => ({ expr: c.countDistinct(), sql: `count(DISTINCT ${q})`, kind: "number" }),
  ];
  if (kind !== "wide") any.push(() => ({ expr: c.list(), sql: `list(${q})`, kind: "bag" }));
  if (kind === "list" || kind === "struct") return any;
  any.push(
    () => ({ expr: c.min(), sql: `min(${q})`, kind }),
    () => ({ expr: c.max(), sql: `max(${q})`, kind }),
  );
  if (kind !== "number") return any;
  return [
    ...any,
    () => ({ expr: c.sum(), sql: `sum(${q})`, kind: "number" }),
    () => ({ expr: c.mean(), sql: `avg(${q})`, kind: "approximate" }),
    () => ({ expr: c.std(), sql: `stddev_samp(${q})`, kind: "approximate" }),
    () => ({ expr: c.var(), sql: `var_samp(${q})`, kind: "approximate" }),
    () => ({ expr: c.quantile(0.3), sql: `quantile_cont(${q}, 0.3)`, kind: "approximate" }),
    () => ({ expr: c.median(), sql: `quantile_cont(${q}, 0.5)`, kind: "approximate" }),
  ];
}

const JOINS = ["inner", "left", "right", "full", "semi", "anti", "cross"] as const;

/** Kinds whose values can be equal. */
const family = (kind: Kind | undefined) => (kind === "odd" ? "number" : kind === "day" ? "time" : kind);

/** Pairs of columns that a join can be on; each column in one at most. */
function pairs(left: Columns, right: Columns, choice: Choice): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  const free = new Set(keysIn(right));
  for (const name of choice.some(keysIn(left), 2)) {
    const fits = [...free].filter((other) => family(right.get(other)) === family(left.get(name)));
    if (fits.length === 0) continue;
    const other = fits.includes(name) && choice.chance(2) ? name : choice.of(fits);
    free.delete(other);
    found.push([name, other]);
  }
  return found;
}

export const RELATIONAL_OPERATORS: readonly Maker[] = [
  function groupBy({ columns }, choice) {
    const keys = choice.chance(5) ? [] : choice.some(keysIn(columns), 3);
    const items = aggregates(columns, choice);
    if (keys.some((key) => key in items)) return null;
    const list = [...keys.map(quoted), ...Object.entries(items).map(([name, { sql }]) => `${sql} AS ${name}`)];
    return {
      name: `groupBy(${keys}).agg(${Object.values(items).map(({ sql }) => sql)})`,
      apply: (ds) =>
        ds.groupBy(...keys).agg(Object.fromEntries(Object.entries(items).map(([name, { expr }]) => [name, expr]))),
      sql: (input) =>
        `SELECT ${list.join(", ")} FROM ${input}${keys.length === 0 ? "" : ` GROUP BY ${quotedList(keys)}`}`,
      columns: new Map([
        ...keys.map((name): [string, Kind] => [name, columns.get(name) ?? "number"]),
        ...Object.entries(items).map(([name, { kind }]): [string, Kind] => [name, kind]),
      ]),
      order: NO_ORDER,
      known: true,
    };
  },
  function mapGroups({ columns }, choice, _, values, declared) {
    const plain = keysIn(columns).filter(
      (name) => !["list", "struct"].includes(columns.get(name) ?? "") && name !== "size",
    );
    const keys = choice.some(plain, 2);
    if (keys.length === 0) return null;
    const stream = choice.chance(2);
    const same = { columns, order: NO_ORDER, known: false, sql: (input: string) => `FROM ${input}` };
    if (choice.chance(2)) {
      const batchFormat = choice.of(["rows", "columns", "arrow"] as const);
      const types = batchFormat === "arrow" ? {} : declared([...columns.keys()]);
      return {
        ...same,
        name: `groupBy(${keys}).mapGroups(same, ${batchFormat}${stream ? ", stream" : ""})`,
        apply: (ds) => {
          const groups = ds.groupBy(...keys);
          if (!stream) return groups.mapGroups((group: Any) => group, { batchFormat, ...values, ...types });
          return groups.mapGroups(
            async function* (batches: Any) {
              for await (const batch of batches) yield batch;
            } as Any,
            { batchFormat, stream: true, batchSize: 3, ...values, ...types } as Any,
          );
        },
      };
    }
    const schema = declared(keys);
    return {
      name: `groupBy(${keys}).mapGroups(count${stream ? ", stream" : ""})`,
      apply: (ds) => {
        const groups = ds.groupBy(...keys);
        if (!stream) {
          return groups.mapGroups(
            (group: Any) => [{ ...Object.fromEntries(keys.map((key) => [key, group[0][key]])), size: group.length }],
            { batchFormat: "rows", ...values, ...schema },
          );
        }
        return groups.mapGroups(
          (async (batches: Any) => {
            let size = 0;
            let first: Any = null;
            for await (const batch of batches) {
              first ??= batch[0];
              size += batch.length;
            }
            return [{ ...Object.fromEntries(keys.map((key) => [key, first[key]])), size }];
          }) as Any,
          { batchFormat: "rows", stream: true, batchSize: 3, ...values, ...schema } as Any,
        );
      },
      sql: (input) => `SELECT ${quotedList(keys)}, count(*) AS size FROM ${input} GROUP BY ${quotedList(keys)}`,
      columns: new Map([
        ...keys.map((name): [string, Kind] => [name, columns.get(name) ?? "number"]),
        ["size", "number"],
      ]),
      order: NO_ORDER,
      known: false,
    };
  },
  function distinctRows({ columns, known }) {
    if (keysIn(columns).length !== columns.size) return null;
    return {
      name: "distinct()",
      apply: (ds) => ds.distinct(),
      sql: (input) => `SELECT DISTINCT * FROM ${input}`,
      columns,
      order: NO_ORDER,
      known,
    };
  },
  /** Which row of several stays is not said, so only the columns that they are equal in go on. */
  function distinctColumns({ columns }, choice) {
    const names = choice.some(keysIn(columns), 3);
    if (names.length === 0) return null;
    return {
      name: `distinct(${names}) select`,
      apply: (ds) => ds.distinct(...names).select(...names),
      sql: (input) => `SELECT DISTINCT ${quotedList(names)} FROM ${input}`,
      columns: new Map(names.map((name) => [name, columns.get(name) ?? "number"])),
      order: NO_ORDER,
      known: true,
    };
  },
  function joinWithAnother({ columns, known }, choice, { columns: others }) {
    const how = choice.of(JOINS);
    const isMerged = how === "right" || how === "full";
    const drawn = how === "cross" ? [] : pairs(columns, others, choice);
    // Of a BIGINT and an UBIGINT the kernel makes a HUGEINT, of which values beyond 64 bits are refused
    // (docs/values.md).
    const on = drawn.filter((pair) => !isMerged || (columns.get(pair[0]) !== "odd" && others.get(pair[1]) !== "odd"));
    if (how !== "cross" && on.length === 0) return null;
    const [leftOn, rightOn] = [on.map(([name]) => name), on.map(([, name]) => name)];
    const suffix = choice.of(["_right", ".b"]);
    const half = how === "semi" || how === "anti";
    const rest = half ? [] : [...others].filter(([name]) => !rightOn.includes(name));
    const after: [string, Kind][] = rest.map(([name, kind]) => [
      isTaken(columns.keys(), name) ? `${name}${suffix}` : name,
      kind,
    ]);
    const names = after.map(([name]) => name);
    if (names.some((name, i) => isTaken([...columns.keys(), ...names.slice(0, i)], name))) return null;

    const left = [...columns.keys()].map((name) => {
      const partner = isMerged ? on.find(([key]) => key === name)?.[1] : undefined;
      return partner === undefined
        ? `l.${quoted(name)}`
        : `coalesce(l.${quoted(name)}, r.${quoted(partner)}) AS ${quoted(name)}`;
    });
    const right = rest.map(([name], i) => `r.${quoted(name)} AS ${quoted(after[i]?.[0] ?? name)}`);
    const condition = on.map(([a, b]) => `l.${quoted(a)} = r.${quoted(b)}`).join(" AND ");
    const keys = leftOn.every((name, i) => name === rightOn[i]) ? { on: leftOn } : { leftOn, rightOn };
    return {
      name: `join(${how}${on.map(([a, b]) => ` ${a}=${b}`)})`,
      apply: (ds, other) => ds.join(other, (how === "cross" ? { how, suffix } : { ...keys, how, suffix }) as Any),
      sql: (input, other) =>
        `SELECT ${[...left, ...right].join(", ")} FROM ${input} l ${how.toUpperCase()} JOIN ${other} r${how === "cross" ? "" : ` ON ${condition}`}`,
      columns: new Map([
        // A key of either side is of the type that holds both.
        ...[...columns].map(([name, kind]): [string, Kind] => {
          const partner = isMerged ? on.find(([key]) => key === name)?.[1] : undefined;
          return [name, kind === "number" && others.get(partner ?? "") === "odd" ? "odd" : kind];
        }),
        ...after,
      ]),
      order: NO_ORDER,
      known,
    };
  },
  function joinWithItself({ columns, known }, choice) {
    const name = choice.of(keysIn(columns).length > 0 ? keysIn(columns) : [""]);
    const found = condition(columns, choice);
    if (name === "" || found === null) return null;
    const how = choice.of(["semi", "anti"] as const);
    return {
      name: `join(${how} itself where ${found.sql} on ${name})`,
      apply: (ds) => ds.join(ds.filter(found.expr), { on: [name], how }),
      sql: (input) =>
        `SELECT l.* FROM ${input} l ${how.toUpperCase()} JOIN (FROM ${input} WHERE ${found.sql}) r ON l.${quoted(name)} = r.${quoted(name)}`,
      columns,
      order: NO_ORDER,
      known,
    };
  },
  function sortBySome({ columns, known }, choice) {
    const keys = choice.some(keysIn(columns), 3);
    if (keys.length === 0) return null;
    const descending = keys.map(() => choice.chance(2));
    const nulls = choice.of(["first", "last"] as const);
    return {
      name: `sort(${keys} ${descending} ${nulls})`,
      apply: (ds) => ds.sort(keys, { descending, nulls }),
      sql: (input) => `FROM ${input} ORDER BY ${orderBy(keys, descending, nulls)}`,
      columns,
      order: keys,
      known,
    };
  },
  /** Rows that are equal in all cannot be told apart, so that each place is known. */
  function sortByAll({ columns, known }, choice) {
    if (keysIn(columns).length !== columns.size) return null;
    const keys = choice.some([...columns.keys()], columns.size);
    const all = [...keys, ...[...columns.keys()].filter((name) => !keys.includes(name))];
    const nulls = choice.of(["first", "last"] as const);
    const descending = all.map(() => choice.chance(2));
    return {
      name: `sort(all: ${all} ${descending} ${nulls})`,
      apply: (ds) => ds.sort(all, { descending, nulls }),
      sql: (input) => `FROM ${input} ORDER BY ${orderBy(all, descending, nulls)}`,
      columns,
      order: "total",
      known,
    };
  },
  function sortByExpression({ columns, known }, choice) {
    const numbers = named(columns, "number");
    if (numbers.length === 0) return null;
    const name = choice.of(numbers);
    return {
      name: `sort(-${name})`,
      apply: (ds) => ds.sort(col(name).negate(), { descending: true, nulls: "first" }),
      sql: (input) => `FROM ${input} ORDER BY -${quoted(name)} DESC NULLS FIRST`,
      columns,
      order: [name],
      known,
    };
  },
  function randomShuffle({ columns, known }, choice) {
    const seed = choice.below(100);
    return {
      name: `randomShuffle(${seed})`,
      apply: (ds) => ds.randomShuffle({ seed }),
      sql: (input) => `FROM ${input}`,
      columns,
      order: NO_ORDER,
      known,
    };
  },
  function repartition(shape, choice) {
    const n = 1 + choice.below(6);
    const key = keysIn(shape.columns).at(0);
    const ways: readonly [string, (ds: Any) => Any][] = [
      [`repartition(${n})`, (ds) => ds.repartition(n)],
      [`intoPartitions(${n})`, (ds) => ds.intoPartitions(n)],
      [`repartition({ targetRows: ${n} })`, (ds) => ds.repartition({ targetRows: n })],
      ["repartition({ targetBytes })", (ds) => ds.repartition({ targetBytes: "4 KiB" })],
    ];
    const [name, apply] = choice.of(ways);
    if (key !== undefined && choice.chance(4)) {
      return {
        ...shape,
        order: NO_ORDER,
        name: `repartition(keys ${key}, ${n})`,
        apply: (ds) => ds.repartition({ keys: key, count: n }),
        sql: (input) => `FROM ${input}`,
      };
    }
    return { ...shape, name, apply, sql: (input) => `FROM ${input}` };
  },
  function unionWithItself({ columns, order, known }, choice) {
    const found = condition(columns, choice);
    if (found === null) return null;
    return {
      name: `union(filter(${found.sql}))`,
      apply: (ds) => ds.union(ds.filter(found.expr)),
      sql: (input) => `(FROM ${input}) UNION ALL (FROM ${input} WHERE ${found.sql})`,
      columns,
      order: order === "total" ? order : NO_ORDER,
      known,
    };
  },
  function zipWithItself({ columns, order, known }, choice) {
    if (order !== "total" || !known) return null;
    const name = choice.of([...columns.keys()]);
    const twin = `${name}_right`;
    if (isTaken(columns.keys(), twin)) return null;
    return {
      name: `zip(select(${name}))`,
      apply: (ds) => ds.zip(ds.select(name)),
      sql: (input) => `SELECT *, ${quoted(name)} AS ${quoted(twin)} FROM ${input}`,
      columns: new Map([...columns, [twin, columns.get(name) ?? "number"]]),
      order: without(order, twin),
      known,
    };
  },
];

function orderBy(keys: readonly string[], descending: readonly boolean[], nulls: string): string {
  return keys.map((key, i) => `${quoted(key)} ${descending[i] ? "DESC" : "ASC"} NULLS ${nulls}`).join(", ");
}
