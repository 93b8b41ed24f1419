/**
 * Every operator gives what the kernel's own SQL gives: random data with nulls, random chains of operators, over files
 * and rows of the program, with one wide kernel and as an exchange, some in a store so small that it spills. The same
 * cases in every run; SPILLWAY_TEST_SEED and SPILLWAY_TEST_RUNS look further, and so does `npm run hunt`.
 */
import { join } from "node:path";
import fc from "fast-check";
import type { Dataset, Session } from "spillway";
import { afterAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";
import { applied, chainOf, type Held } from "./differential/chain.ts";
import { padded, type Table, tables } from "./differential/data.ts";
import { DRAWN_ENDINGS, ENDINGS } from "./differential/endings.ts";
import { Reference } from "./differential/reference.ts";
import { RELATIONAL_OPERATORS } from "./differential/relational-operators.ts";
import { ROW_OPERATORS } from "./differential/row-operators.ts";
import { type Any, Choice } from "./differential/step.ts";
import { WINDOWS } from "./differential/windows.ts";

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

const reference = new Reference();
afterAll(() => reference.close());
const surroundings = { reference, makers: [ROW_OPERATORS, RELATIONAL_OPERATORS, WINDOWS], values: {} };

let directoriesMade = 0;

const numbers = fc.array(fc.nat({ max: 100_000 }), { minLength: 32, maxLength: 32 });
const from = fc.constantFrom("items", "parquet");
const size = fc.constantFrom<keyof typeof SIZES>("roomy", "roomy", "roomy", "small");

describe("operators against the kernel's SQL", () => {
  test("[A6] [A8] [A9] [A16] random chains of operators over random data", async () => {
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
  const held: Held[] = [];
  for (const { rows, schema, columns } of given) {
    const directory = join(sessions.directory, `data-${directoriesMade++}`);
    await sessionOf("roomy", false).fromItems(rows, { schema, overrideNumBlocks: 3 }).writeParquet(directory);
    const table = reference.asked(`FROM read_parquet('${directory}/*.parquet')`);
    if (table === null) throw new Error("too many rows to begin with");
    directories.push(directory);
    held.push({ table, columns, order: "total", known: true });
  }
  const [first, other] = held;
  if (first === undefined || other === undefined) throw new Error("two tables are drawn");
  const chain = chainOf(first, other, length, choice, surroundings);
  const ending = choice.of(DRAWN_ENDINGS);
  for (const exchange of [false, true]) {
    const s = sessionOf(size, exchange);
    const [ds, others] = given.map(
      ({ rows, schema }, i): Dataset<Any> =>
        sources[i] === "items"
          ? s.fromItems(rows, { schema, overrideNumBlocks: 3 })
          : s.readParquet(directories[i] ?? ""),
    );
    if (ds === undefined || others === undefined) throw new Error("two tables are drawn");
    // More rows than a small store holds: some of them are on disk when the chain begins.
    const kept = size === "small" ? await ds.materialize() : null;
    const last = applied(chain, kept ?? ds, others);
    try {
      const out = join(sessions.directory, `out-${directoriesMade++}`);
      await ENDINGS[ending]({ ds: last, chain, choice: new Choice(drawn), reference, values: {}, out });
    } catch (error) {
      const told = [sources, ...chain.steps.map(({ name }) => name), ending].join(" -> ");
      if (error instanceof Error) error.message = `exchange ${exchange}, ${size}: ${told}\n${error.message}`;
      throw error;
    }
    if (kept === null) continue;
    // Else the small store was not small.
    if (given[0]?.rows.length !== 0) expect(ds.stats().spilledBytes).toBeGreaterThan(0);
    kept.dispose();
  }
  reference.forgetTables();
}
