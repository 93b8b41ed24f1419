/**
 * Every operator gives what the kernel's own SQL gives: random data with nulls, random chains of operators, over files and
 * rows of the program, with one wide kernel and as an exchange, some in a store so small that it spills.
 * The same cases in every run; SPILLWAY_TEST_SEED and SPILLWAY_TEST_RUNS look further.
 */
import { join } from "node:path";
import fc from "fast-check";
import { col, type Dataset, type Session } from "spillway";
import { afterAll, describe, expect, test } from "vitest";
import { KernelError } from "../../src/errors/index.ts";
import { Kernel } from "../../src/kernel/index.ts";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilled.ts";
import { bagOf, inOrder, notAmong, type Rows, textOf } from "./differential/compare.ts";
import { padded, type Table, tables } from "./differential/data.ts";
import { RELATIONAL_OPERATORS } from "./differential/relational-operators.ts";
import { ROW_OPERATORS } from "./differential/row-operators.ts";
import { type Any, Choice, keysIn, quoted, quotedList, type Shape, type Step } from "./differential/step.ts";

const sessions = testSessions("differential");
const BLOCKS = { targetMaxBlockSize: 16 * KIB, targetMinBlockSize: 4 * KIB };
const SIZES = {
  roomy: BLOCKS,
  small: { ...BLOCKS, workers: 1, objectStoreMemory: 512 * KIB },
};
const opened = new Map<string, Session>();
function sessionOf(size: keyof typeof SIZES, exchange: boolean): Session {
  const name = `${size} ${exchange}`;
  const known = opened.get(name) ?? sessions.open({ preserveOrder: true, exchange, ...SIZES[size] });
  opened.set(name, known);
  return known;
}

const kernel = Kernel.open({ threads: 1 });
const reference = kernel.connect();
afterAll(() => {
  reference.close();
  kernel.close();
});

/** More rows say no more, and take long. */
const MOST_ROWS = 1500;
let tablesMade = 0;
let spilledBytes = 0;

/** The reference's rows after a step; null where the question itself fails or has too many rows. */
function asked(sql: string): string | null {
  const table = `t${tablesMade++}`;
  try {
    reference.execute(`CREATE TABLE ${table} AS ${sql}`);
  } catch (error) {
    if (error instanceof KernelError && /overflow|out of range|could not cast|conversion/i.test(error.message))
      return null;
    throw error;
  }
  const [row] = reference.all(`SELECT count(*) AS n FROM ${table}`);
  return Number(row?.n) <= MOST_ROWS ? table : null;
}

interface Chain extends Shape {
  readonly steps: readonly Step[];
  readonly table: string;
}

function chainOf(first: Shape & { readonly table: string }, length: number, choice: Choice, other: Other): Chain {
  let chain: Chain = { ...first, steps: [] };
  for (let i = 0; i < length; i++) {
    const makers = choice.chance(2) ? ROW_OPERATORS : RELATIONAL_OPERATORS;
    const step = choice.of(makers)(chain, choice, other);
    if (step === null) continue;
    const table = asked(step.sql(chain.table, other.table));
    if (table === null) continue;
    chain = { ...step, table, steps: [...chain.steps, step] };
  }
  return chain;
}

interface Other extends Shape {
  readonly table: string;
}

const rowsOf = (table: string): Rows => reference.all(`FROM ${table}`);

/** What is done with the rows at the end, and held against the reference's. */
const ENDINGS: Readonly<
  Record<string, (ds: Dataset<Any>, chain: Chain, choice: Choice, out: string) => Promise<void>>
> = {
  async takeAll(ds, chain) {
    const got = inOrder(await ds.takeAll(), chain.columns, chain.order);
    expect(got).toEqual(inOrder(rowsOf(chain.table), chain.columns, chain.order));
  },
  async count(ds, { table }) {
    expect(await ds.count()).toBe(rowsOf(table).length);
  },
  async writeParquet(ds, { table, columns }, _, out) {
    const { files } = await ds.writeParquet(out);
    // One by one: a file of a column that is null throughout may not know its type.
    const written = files.flatMap((file) => reference.all(`FROM read_parquet('${file}')`));
    expect(bagOf(written, columns)).toEqual(bagOf(rowsOf(table), columns));
  },
  async sampleFraction(ds, { table, columns }) {
    const got = await ds.sample({ fraction: 0.4, seed: 5 }).takeAll();
    expect(notAmong(bagOf(got, columns), bagOf(rowsOf(table), columns))).toBeNull();
  },
  async sampleRows(ds, { table, columns }, choice) {
    const rows = choice.below(30);
    const got = await ds.sample({ rows, seed: 5 }).takeAll();
    const all = rowsOf(table);
    expect(got.length).toBe(Math.min(rows, all.length));
    expect(notAmong(bagOf(got, columns), bagOf(all, columns))).toBeNull();
  },
  async shuffleTwice(ds, { table, columns, order }) {
    const shuffled = ds.randomShuffle({ seed: 11 });
    const got = await shuffled.takeAll();
    expect(bagOf(got, columns)).toEqual(bagOf(rowsOf(table), columns));
    if (order === "total") expect((await shuffled.takeAll()).map(textOf)).toEqual(got.map(textOf));
  },
  async first(ds, { table, columns }, choice) {
    const keys = choice.some(keysIn(columns), 2);
    const name = choice.of([...columns.keys()]);
    const got: Rows = await ds
      .groupBy(...keys)
      .agg({ one: col(name).first() })
      .takeAll();
    const groups = keys.length === 0 ? "" : ` GROUP BY ${quotedList(keys)}`;
    const lists = reference.all(
      `SELECT ${[...keys, name]
        .map(quoted)
        .slice(0, -1)
        .concat(`list(${quoted(name)}) AS all_values`)
        .join(", ")} FROM ${table}${groups}`,
    );
    const keyText = (row: Rows[number]) => textOf(keys.map((key) => row[key]));
    const values = new Map(lists.map((row) => [keyText(row), row.all_values]));
    expect(got.map(keyText).sort()).toEqual([...values.keys()].sort());
    const bag = (value: unknown) =>
      textOf(columns.get(name) === "bag" && Array.isArray(value) ? value.map(textOf).sort() : value);
    for (const row of got) {
      const list = values.get(keyText(row));
      expect(Array.isArray(list) ? list.map(bag) : ["null"]).toContain(bag(row.one));
    }
  },
  async distinctColumns(ds, { table, columns }, choice) {
    const keys = choice.some(keysIn(columns), 2);
    if (keys.length === 0) return;
    const got = await ds.distinct(...keys).takeAll();
    const [counted] = reference.all(`SELECT count(*) AS n FROM (SELECT DISTINCT ${quotedList(keys)} FROM ${table})`);
    expect(got.length).toBe(Number(counted?.n));
    expect(notAmong(bagOf(got, columns), bagOf(rowsOf(table), columns))).toBeNull();
  },
};
const USUAL = ["takeAll", "takeAll", "takeAll", "takeAll"];

const numbers = fc.array(fc.nat({ max: 100_000 }), { minLength: 32, maxLength: 32 });
const from = fc.constantFrom("items", "parquet");
const size = fc.constantFrom<keyof typeof SIZES>("roomy", "roomy", "roomy", "small");

describe("operators against the kernel's SQL", () => {
  test("[A6] [A8] [A9] random chains of operators over random data", async () => {
    await fc.assert(
      fc.asyncProperty(
        tables(60),
        tables(20),
        numbers,
        fc.integer({ min: 0, max: 6 }),
        fc.tuple(from, from),
        size,
        compared,
      ),
      {
        numRuns: Number(process.env.SPILLWAY_TEST_RUNS ?? 120),
        seed: Number(process.env.SPILLWAY_TEST_SEED ?? 20_260_115),
      },
    );
    // Else the small store was not small.
    expect(spilledBytes).toBeGreaterThan(0);
  }, 3_600_000);
});

async function compared(
  left: Table,
  right: Table,
  drawn: readonly number[],
  length: number,
  sources: readonly [string, string],
  size: keyof typeof SIZES,
): Promise<void> {
  const choice = new Choice(drawn);
  const given = size === "small" ? [padded(left), right] : [left, right];
  const directories: string[] = [];
  const shapes: Other[] = [];
  for (const { rows, schema, columns } of given) {
    const directory = join(sessions.directory, `data-${tablesMade++}`);
    await sessionOf("roomy", false).fromItems(rows, { schema, overrideNumBlocks: 3 }).writeParquet(directory);
    const table = asked(`FROM read_parquet('${directory}/*.parquet')`);
    if (table === null) throw new Error("too many rows to begin with");
    directories.push(directory);
    shapes.push({ table, columns, order: "total", known: true });
  }
  const [first, other] = shapes;
  if (first === undefined || other === undefined) throw new Error("two tables are drawn");
  const chain = chainOf(first, length, choice, other);
  const ending = choice.of([...USUAL, ...Object.keys(ENDINGS)]);
  for (const exchange of [false, true]) {
    const s = sessionOf(size, exchange);
    const [ds, others] = given.map(
      ({ rows, schema }, i): Dataset<Any> =>
        sources[i] === "items"
          ? s.fromItems(rows, { schema, overrideNumBlocks: 3 })
          : s.readParquet(directories[i] ?? ""),
    );
    if (ds === undefined || others === undefined) throw new Error("two tables are drawn");
    const last = chain.steps.reduce((made, step) => step.apply(made, others), ds);
    const told = [sources, ...chain.steps.map(({ name }) => name), ending].join(" -> ");
    try {
      const out = join(sessions.directory, `out-${tablesMade++}`);
      await ENDINGS[ending]?.(last, chain, new Choice(drawn), out);
    } catch (error) {
      if (error instanceof Error) error.message = `exchange ${exchange}, ${size}: ${told}\n${error.message}`;
      throw error;
    }
    spilledBytes += last.stats().spilledBytes;
  }
  for (const row of reference.all("SELECT table_name FROM duckdb_tables()")) {
    reference.execute(`DROP TABLE ${row.table_name}`);
  }
}
