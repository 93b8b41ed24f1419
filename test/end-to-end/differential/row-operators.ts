/** Operators that look at one row at a time, or at places of rows. */
import { condition, value } from "./expressions.ts";
import { type Any, isTaken, type Maker, NO_ORDER, named, quoted, quotedList, without } from "./step.ts";

export const ROW_OPERATORS: readonly Maker[] = [
  function filterExpression(shape, choice) {
    const found = condition(shape.columns, choice);
    if (found === null) return null;
    const where = choice.chance(2);
    return {
      ...shape,
      name: `${where ? "where" : "filter"}(${found.sql})`,
      apply: (ds) => (where ? ds.where(found.expr) : ds.filter(found.expr)),
      sql: (input) => `SELECT * FROM ${input} WHERE ${found.sql}`,
    };
  },
  function withColumn({ columns, order, known }, choice) {
    const { expr, sql, kind } = value(columns, choice);
    const name = choice.of(["x", "y", 'odd "name"', [...columns.keys()][0] ?? "x"]);
    if (!columns.has(name) && isTaken(columns.keys(), name)) return null;
    return {
      name: `withColumn(${name}, ${sql})`,
      apply: (ds) => ds.withColumn(name, expr),
      sql: (input) =>
        columns.has(name)
          ? `SELECT * REPLACE (${sql} AS ${quoted(name)}) FROM ${input}`
          : `SELECT *, ${sql} AS ${quoted(name)} FROM ${input}`,
      columns: new Map([...columns, [name, kind]]),
      order: without(order, name),
      known,
    };
  },
  function select({ columns, order }, choice) {
    const names = [...columns.keys()].filter(() => choice.below(4) > 0);
    if (names.length === 0) return null;
    return {
      name: `select(${names})`,
      apply: (ds) => ds.select(...names),
      sql: (input) => `SELECT ${quotedList(names)} FROM ${input}`,
      columns: new Map(names.map((name) => [name, columns.get(name) ?? "number"])),
      order: order === "total" ? order : order.filter((name) => names.includes(name)),
      known: true,
    };
  },
  function drop({ columns, order, known }, choice) {
    if (columns.size < 2) return null;
    const name = choice.of([...columns.keys()]);
    return {
      name: `drop(${name})`,
      apply: (ds) => ds.drop(name),
      sql: (input) => `SELECT * EXCLUDE (${quoted(name)}) FROM ${input}`,
      columns: new Map([...columns].filter(([other]) => other !== name)),
      order: without(order, name),
      known,
    };
  },
  function rename({ columns, order, known }, choice) {
    const name = choice.of([...columns.keys()]);
    const into = choice.chance(3) ? name.toUpperCase() : "renamed";
    if (columns.has(into)) return null;
    return {
      name: `rename(${name} ${into})`,
      apply: (ds) => ds.rename({ [name]: into }),
      sql: (input) => `SELECT * RENAME (${quoted(name)} AS ${quoted(into)}) FROM ${input}`,
      columns: new Map([...columns].map(([other, kind]) => [other === name ? into : other, kind])),
      order: order === "total" ? order : order.map((other) => (other === name ? into : other)),
      known,
    };
  },
  function dropNull(shape, choice) {
    const name = choice.of([...shape.columns.keys()]);
    return {
      ...shape,
      name: `dropNull(${name})`,
      apply: (ds) => ds.dropNull([name]),
      sql: (input) => `SELECT * FROM ${input} WHERE ${quoted(name)} IS NOT NULL`,
    };
  },
  function fillNull(shape, choice) {
    const numbers = named(shape.columns, "number");
    if (numbers.length === 0) return null;
    const name = choice.of(numbers);
    return {
      ...shape,
      name: `fillNull(${name})`,
      apply: (ds) => ds.fillNull({ [name]: -1 }),
      sql: (input) => `SELECT * REPLACE (coalesce(${quoted(name)}, -1) AS ${quoted(name)}) FROM ${input}`,
    };
  },
  function explode({ columns, order, known }, choice) {
    const lists = named(columns, "list");
    if (lists.length === 0) return null;
    const name = choice.of(lists);
    return {
      name: `explode(${name})`,
      apply: (ds) => ds.explode(name),
      sql: (input) => `SELECT * REPLACE (unnest(${quoted(name)}) AS ${quoted(name)}) FROM ${input}`,
      columns: new Map([...columns].map(([other, kind]) => [other, other === name ? "number" : kind])),
      order: without(order, name),
      known,
    };
  },
  function limit(shape, choice) {
    if (shape.order !== "total") return null;
    const n = choice.below(40);
    return {
      ...shape,
      name: `limit(${n})`,
      apply: (ds) => ds.limit(n),
      sql: (input) => `SELECT * FROM ${input} LIMIT ${n}`,
    };
  },
  function offset(shape, choice) {
    if (shape.order !== "total") return null;
    const n = choice.below(20);
    return {
      ...shape,
      name: `offset(${n})`,
      apply: (ds) => ds.offset(n),
      sql: (input) => `SELECT * FROM ${input} OFFSET ${n}`,
    };
  },
  function sampleOfAllOrNothing(shape, choice) {
    const seed = choice.below(9);
    const [name, options, sql] = choice.of([
      ["fraction 1", { fraction: 1, seed }, ""],
      ["fraction 0", { fraction: 0, seed }, " LIMIT 0"],
      ["many rows", { rows: 1_000_000, seed }, ""],
      ["no rows", { rows: 0, seed }, " LIMIT 0"],
    ] as const);
    return {
      ...shape,
      order: "fraction" in options ? shape.order : NO_ORDER,
      name: `sample(${name})`,
      apply: (ds) => ds.sample(options),
      sql: (input) => `SELECT * FROM ${input}${sql}`,
    };
  },
  (shape, _, __, values) => ({
    ...shape,
    known: false,
    name: "map",
    apply: (ds) => ds.map((row: Any) => ({ ...row }), values),
    sql: (input) => `FROM ${input}`,
  }),
  (shape, _, __, values) => ({
    ...shape,
    known: false,
    name: "flatMap",
    apply: (ds) => ds.flatMap((row: Any) => [row, row], values),
    sql: (input) => `SELECT * EXCLUDE ("of two") FROM (SELECT *, unnest([1, 2]) AS "of two" FROM ${input})`,
  }),
  (shape, choice, _, values, declared) => {
    const batchFormat = choice.of(["columns", "rows", "arrow"] as const);
    const schema = batchFormat === "rows" ? declared([...shape.columns.keys()]) : {};
    return {
      ...shape,
      known: false,
      name: `mapBatches(${batchFormat})`,
      apply: (ds) => ds.mapBatches((batch: Any) => batch, { batchSize: 7, batchFormat, ...values, ...schema }),
      sql: (input) => `FROM ${input}`,
    };
  },
  (shape, _, __, values) => ({
    ...shape,
    name: "filter(fn)",
    apply: (ds) => ds.filter(() => true, values),
    sql: (input) => `FROM ${input}`,
  }),
  (shape, _, __, values) => ({
    ...shape,
    name: "filter(never)",
    apply: (ds) => ds.filter(() => false, values),
    sql: (input) => `FROM ${input} LIMIT 0`,
  }),
];
