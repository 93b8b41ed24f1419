/**
 * Every operator gives what the kernel's own SQL gives: random data with nulls, random chains of operators, some of
 * them split by functions that change nothing, so that SQL runs before, between and after functions.
 * The same cases in every run; SPILLWAY_SEED and SPILLWAY_RUNS look further.
 */
import { join } from "node:path";
import fc from "fast-check";
import { col, type Dataset, type Expr, lit, when } from "spillway";
import { afterAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("differential");
const s = sessions.open({ preserveOrder: true, targetMaxBlockSize: "64 KiB" });
const kernel = Kernel.open({ threads: 1 });
const reference = kernel.connect();
afterAll(() => {
  reference.close();
  kernel.close();
});

// biome-ignore lint/suspicious/noExplicitAny: the columns change from operator to operator
type Any = any;
type Kind = "number" | "text" | "list" | "other";
type Columns = ReadonlyMap<string, Kind>;

/** An operator, the SQL that says the same, and the columns after it. */
interface Step {
  readonly name: string;
  readonly apply: (ds: Dataset<Any>) => Dataset<Any>;
  readonly sql: (input: string) => string;
  readonly after: Columns;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Chooses deterministically from a stream of random numbers. */
class Choice {
  #at = 0;
  constructor(private readonly numbers: readonly number[]) {}
  below(n: number): number {
    return (this.numbers[this.#at++ % this.numbers.length] ?? 0) % n;
  }
  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }
}

function named(columns: Columns, kind: Kind): string[] {
  return [...columns].filter(([, k]) => k === kind).map(([name]) => name);
}

/** A condition and its SQL. */
function condition(
  columns: Columns,
  choice: Choice,
): { readonly expr: Expr<Any, Any, Any>; readonly sql: string } | null {
  const numbers = named(columns, "number");
  const texts = named(columns, "text");
  const options: (() => { expr: Expr<Any, Any, Any>; sql: string })[] = [];
  if (numbers.length > 0) {
    const name = choice.of(numbers);
    const n = choice.below(20) - 10;
    options.push(
      () => ({ expr: col(name).gt(n), sql: `${quoted(name)} > ${n}` }),
      () => ({
        expr: col(name).le(n).or(col(name).isNull()),
        sql: `(${quoted(name)} <= ${n} OR ${quoted(name)} IS NULL)`,
      }),
      () => ({ expr: col(name).between(n, n + 7), sql: `${quoted(name)} BETWEEN ${n} AND ${n + 7}` }),
      () => ({ expr: col(name).in([n, n + 1, n + 2]), sql: `${quoted(name)} IN (${n}, ${n + 1}, ${n + 2})` }),
      () => ({ expr: col(name).eq(n).not(), sql: `NOT (${quoted(name)} = ${n})` }),
    );
  }
  if (texts.length > 0) {
    const name = choice.of(texts);
    options.push(
      () => ({ expr: col(name).isNotNull(), sql: `${quoted(name)} IS NOT NULL` }),
      () => ({ expr: col(name).contains("a'"), sql: `contains(${quoted(name)}, 'a''')` }),
      () => ({ expr: col(name).ge("m"), sql: `${quoted(name)} >= 'm'` }),
    );
  }
  return options.length === 0 ? null : choice.of(options)();
}

function value(
  columns: Columns,
  choice: Choice,
): { readonly expr: Expr<Any, Any, Any>; readonly sql: string; readonly kind: Kind } {
  const numbers = named(columns, "number");
  const texts = named(columns, "text");
  const options: (() => { expr: Expr<Any, Any, Any>; sql: string; kind: Kind })[] = [
    () => ({ expr: lit("it's"), sql: "'it''s'", kind: "text" }),
    () => ({ expr: lit(7), sql: "7", kind: "number" }),
  ];
  if (numbers.length > 0) {
    const a = choice.of(numbers);
    const b = choice.of(numbers);
    options.push(
      () => ({ expr: col(a).add(col(b)), sql: `(${quoted(a)} + ${quoted(b)})`, kind: "number" }),
      () => ({ expr: col(a).multiply(2).subtract(1), sql: `(${quoted(a)} * 2 - 1)`, kind: "number" }),
      () => ({
        expr: when(col(a).gt(0)).then(col(b)).otherwise(0),
        sql: `CASE WHEN ${quoted(a)} > 0 THEN ${quoted(b)} ELSE 0 END`,
        kind: "number",
      }),
    );
  }
  if (texts.length > 0) {
    const a = choice.of(texts);
    options.push(
      () => ({ expr: col(a).upper(), sql: `upper(${quoted(a)})`, kind: "text" }),
      () => ({ expr: col(a).length(), sql: `length(${quoted(a)})`, kind: "number" }),
    );
  }
  return choice.of(options)();
}

type Maker = (columns: Columns, choice: Choice) => Step | null;

const OPERATORS: readonly Maker[] = [
  function filterExpression(columns, choice) {
    const found = condition(columns, choice);
    if (found === null) return null;
    return {
      name: `filter(${found.sql})`,
      apply: (ds) => ds.filter(found.expr),
      sql: (input) => `SELECT * FROM (${input}) WHERE ${found.sql}`,
      after: columns,
    };
  },
  function withColumn(columns, choice) {
    const { expr, sql, kind } = value(columns, choice);
    const name = choice.of(["x", "y", 'odd "name"', [...columns.keys()][0] ?? "x"]);
    const replaced = columns.has(name);
    return {
      name: `withColumn(${name}, ${sql})`,
      apply: (ds) => ds.withColumn(name, expr),
      sql: (input) =>
        replaced
          ? `SELECT * REPLACE (${sql} AS ${quoted(name)}) FROM (${input})`
          : `SELECT *, ${sql} AS ${quoted(name)} FROM (${input})`,
      after: new Map([...columns, [name, kind]]),
    };
  },
  function select(columns, choice) {
    const names = [...columns.keys()].filter(() => choice.below(4) > 0);
    if (names.length === 0) return null;
    return {
      name: `select(${names})`,
      apply: (ds) => ds.select(...names),
      sql: (input) => `SELECT ${names.map(quoted).join(", ")} FROM (${input})`,
      after: new Map(names.map((name) => [name, columns.get(name) ?? "number"])),
    };
  },
  function drop(columns, choice) {
    if (columns.size < 2) return null;
    const name = choice.of([...columns.keys()]);
    return {
      name: `drop(${name})`,
      apply: (ds) => ds.drop(name),
      sql: (input) => `SELECT * EXCLUDE (${quoted(name)}) FROM (${input})`,
      after: new Map([...columns].filter(([other]) => other !== name)),
    };
  },
  function rename(columns, choice) {
    const name = choice.of([...columns.keys()]);
    if (columns.has("renamed")) return null;
    return {
      name: `rename(${name})`,
      apply: (ds) => ds.rename({ [name]: "renamed" }),
      sql: (input) => `SELECT * RENAME (${quoted(name)} AS renamed) FROM (${input})`,
      after: new Map([...columns].map(([other, kind]) => [other === name ? "renamed" : other, kind])),
    };
  },
  function dropNull(columns, choice) {
    const name = choice.of([...columns.keys()]);
    return {
      name: `dropNull(${name})`,
      apply: (ds) => ds.dropNull([name]),
      sql: (input) => `SELECT * FROM (${input}) WHERE ${quoted(name)} IS NOT NULL`,
      after: columns,
    };
  },
  function fillNull(columns, choice) {
    const numbers = named(columns, "number");
    if (numbers.length === 0) return null;
    const name = choice.of(numbers);
    return {
      name: `fillNull(${name})`,
      apply: (ds) => ds.fillNull({ [name]: -1 }),
      sql: (input) => `SELECT * REPLACE (coalesce(${quoted(name)}, -1) AS ${quoted(name)}) FROM (${input})`,
      after: columns,
    };
  },
  function explode(columns, choice) {
    const lists = named(columns, "list");
    if (lists.length === 0) return null;
    const name = choice.of(lists);
    return {
      name: `explode(${name})`,
      apply: (ds) => ds.explode(name),
      sql: (input) => `SELECT * REPLACE (unnest(${quoted(name)}) AS ${quoted(name)}) FROM (${input})`,
      after: new Map([...columns].map(([other, kind]) => [other, other === name ? "number" : kind])),
    };
  },
  function limit(columns, choice) {
    const n = choice.below(40);
    return {
      name: `limit(${n})`,
      apply: (ds) => ds.limit(n),
      sql: (input) => `SELECT * FROM (${input}) LIMIT ${n}`,
      after: columns,
    };
  },
  function offset(columns, choice) {
    const n = choice.below(20);
    return {
      name: `offset(${n})`,
      apply: (ds) => ds.offset(n),
      sql: (input) => `SELECT * FROM (${input}) OFFSET ${n}`,
      after: columns,
    };
  },
  function unionWithItself(columns, choice) {
    const found = condition(columns, choice);
    if (found === null) return null;
    return {
      name: `union(filter(${found.sql}))`,
      apply: (ds) => ds.union(ds.filter(found.expr)),
      sql: (input) => `(FROM (${input})) UNION ALL (FROM (${input}) WHERE ${found.sql})`,
      after: columns,
    };
  },
  (columns) => ({
    name: "map",
    apply: (ds) => ds.map((row: Any) => ({ ...row })),
    sql: (input) => input,
    after: columns,
  }),
  (columns, choice) => ({
    name: "mapBatches",
    apply: (ds) =>
      ds.mapBatches((batch: Any) => batch, { batchSize: 7, batchFormat: choice.of(["columns", "rows", "arrow"]) }),
    sql: (input) => input,
    after: columns,
  }),
  (columns) => ({ name: "filter(fn)", apply: (ds) => ds.filter(() => true), sql: (input) => input, after: columns }),
];

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 4 });
const whole = fc.integer({ min: -12, max: 12 });
/** Exact in binary, so that a double and a decimal say the same. */
const quarters = fc.integer({ min: -40, max: 40 }).map((x) => x / 4);
const words = fc.constantFrom("", "a", "a'b", "zoë", "m", '"quoted"', "x".repeat(40));

/** Columns that a random schema is drawn from. */
const POOL: readonly { name: string; type: string; kind: Kind; values: fc.Arbitrary<unknown> }[] = [
  { name: "n", type: "BIGINT", kind: "number", values: whole },
  { name: "small", type: "TINYINT", kind: "number", values: whole },
  { name: "f", type: "DOUBLE", kind: "number", values: quarters },
  { name: "money", type: "DECIMAL(12,2)", kind: "number", values: quarters },
  { name: "t", type: "VARCHAR", kind: "text", values: words },
  { name: "odd name", type: "VARCHAR", kind: "text", values: words },
  { name: "b", type: "BOOLEAN", kind: "other", values: fc.boolean() },
  { name: "l", type: "BIGINT[]", kind: "list", values: fc.array(nullable(whole), { maxLength: 3 }) },
  { name: "day", type: "DATE", kind: "other", values: whole.map((x) => new Date(x * 86_400_000)) },
  { name: "at", type: "TIMESTAMP", kind: "other", values: whole.map((x) => new Date(x * 1001)) },
  {
    name: "s",
    type: "STRUCT(x DOUBLE, y VARCHAR[])",
    kind: "other",
    values: fc.record({ x: nullable(quarters), y: nullable(fc.array(nullable(words), { maxLength: 2 })) }),
  },
];

const table = fc.subarray([...POOL], { minLength: 1 }).chain((columns) =>
  fc.tuple(
    fc.constant(columns),
    fc.array(fc.record(Object.fromEntries(columns.map(({ name, values }) => [name, nullable(values)]))), {
      maxLength: 60,
    }),
  ),
);

/** Values as text that is the same for what is equal in SQL: 3 and 3.0 are. */
function normal(row: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entries, (_, v) => (typeof v === "bigint" ? Number(v) : Object.is(v, -0) ? 0 : v));
}

let files = 0;

describe("operators against the kernel's SQL", () => {
  test("[A6] random chains of operators over random data", async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.array(fc.nat({ max: 100_000 }), { minLength: 24, maxLength: 24 }),
        fc.integer({ min: 0, max: 6 }),
        fc.constantFrom("items", "parquet"),
        async ([drawn, rows], numbers, length, from) => {
          const choice = new Choice(numbers);
          const schema = Object.fromEntries(drawn.map(({ name, type }) => [name, type]));
          const out = join(sessions.directory, `data-${files++}`);
          await s.fromItems(rows, { schema }).writeParquet(out);
          const parquet = `read_parquet('${out}/*.parquet')`;
          let ds: Dataset<Any> =
            from === "items" ? s.fromItems(rows, { schema, overrideNumBlocks: 3 }) : s.readParquet(out);
          let sql = `SELECT * FROM ${parquet}`;
          let columns: Columns = new Map(drawn.map(({ name, kind }) => [name, kind]));
          const names: string[] = [from];
          for (let i = 0; i < length; i++) {
            const step = choice.of(OPERATORS)(columns, choice);
            if (step === null) continue;
            ds = step.apply(ds);
            sql = step.sql(sql);
            columns = step.after;
            names.push(step.name);
          }
          const want = reference.all(sql).map(normal).sort();
          const got = (await ds.takeAll()).map((row: Any) => normal(row)).sort();
          expect(got, `${names.join(" -> ")}\n${sql}`).toEqual(want);
          expect(await ds.count(), names.join(" -> ")).toBe(want.length);
        },
      ),
      { numRuns: Number(process.env.SPILLWAY_RUNS ?? 120), seed: Number(process.env.SPILLWAY_SEED ?? 20_260_115) },
    );
  }, 300_000);
});
