/**
 * An aggregate over the output of a function, in one phase and in two, with the worker's own code in one process: `npx
 * tsx bench/micro/two-phase.ts`. Shows the time of the map side (one thread) and of the wide side (filling tables, one
 * query), best of several runs, and the ratio of two phases to one. Not a measurement of jobs: nothing runs in
 * parallel.
 */
import { BlockBuilder, columnsToBatch, type RecordBatch } from "../../src/arrow/index.ts";
import { type Connection, Kernel, StoredTable } from "../../src/kernel/index.ts";
import { type AggregateExpression, type AggregateName, aggregate, column } from "../../src/plan/index.ts";
import { twoPhase } from "../../src/stages/aggregates/two-phase.ts";
import { relation } from "../../src/stages/sql/relation.ts";
import { selectFrom, selectSql } from "../../src/stages/sql/select.ts";
import type { Link } from "../../src/worker/link.ts";
import { SqlStep } from "../../src/worker/steps/sql-step.ts";
import { table } from "../../test/plan/fixtures.ts";

const ROWS = 1_000_000;
const BATCH = 8192;
const RUNS = 3;
const BLOCK_BYTES = 16 << 20;

const map = Kernel.open({ threads: 1 });
const wide = Kernel.open({ threads: 1 });
const [mapSide, wideSide] = [map.connect(), wide.connect()];

const of = (name: AggregateName, input: string | null, fraction: number | null = null): AggregateExpression => ({
  kind: "aggregate",
  name,
  input: input === null ? null : column(input),
  where: null,
  fraction,
});
const sums = { n: of("count", null), total: of("sum", "x"), low: of("min", "f") };
const cases: readonly (readonly [string, number, Readonly<Record<string, AggregateExpression>>])[] = [
  ["sums, 10 groups", 10, sums],
  ["sums, 10 k groups", 10_000, sums],
  ["sums, 100 k groups", 100_000, sums],
  ["sums, 300 k groups", 300_000, sums],
  ["sums, 1 M groups", 1_000_000, sums],
  ["countDistinct of 100, 10 groups", 10, { d: of("countDistinct", "c") }],
  ["countDistinct of all, 10 groups", 10, { d: of("countDistinct", "x") }],
  ["countDistinct of all, 1 k groups", 1000, { d: of("countDistinct", "x") }],
  ["std, 1 k groups", 1000, { s: of("std", "f") }],
  ["std, 100 k groups", 100_000, { s: of("std", "f") }],
  ["std and median, 1 k groups", 1000, { s: of("std", "f"), m: of("quantile", "f", 0.5) }],
  ["count and list, 1 k groups", 1000, { n: of("count", null), l: of("list", "x") }],
];

/** Combines its input into blocks. */
class Blocks implements Link {
  readonly wanted = Number.POSITIVE_INFINITY;
  readonly takesEach = true;
  readonly batches: RecordBatch[] = [];
  #builder = new BlockBuilder();
  push(batch: RecordBatch): void {
    this.#builder.append(batch);
    if (this.#builder.byteLength >= BLOCK_BYTES) this.#seal();
  }
  async end(): Promise<void> {
    this.#seal();
  }
  close(): void {}
  #seal(): void {
    const batch = this.#builder.finish();
    if (batch !== null) this.batches.push(batch);
    this.#builder = new BlockBuilder();
  }
}

function* rowsOf(groups: number): Iterable<RecordBatch> {
  for (let start = 0; start < ROWS; start += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, ROWS - start) }, (_, i) => start + i);
    yield columnsToBatch(
      {
        k: Float64Array.from(ids, (i) => (i * 7919 + (i >> 3)) % groups),
        x: BigInt64Array.from(ids, (i) => BigInt((i * 31) % 1_000_003)),
        f: Float64Array.from(ids, (i) => ((i * 17) % 1009) / 7),
        c: Int32Array.from(ids, (i) => (i * 13) % 100),
      },
      undefined,
      new Map(),
    );
  }
}

async function throughSteps(batches: readonly RecordBatch[], partial: string | null): Promise<readonly RecordBatch[]> {
  const sink = new Blocks();
  const scope = { check: () => {}, turn: () => {}, errored: () => {}, files: [], blamesRows: false };
  const first = partial === null ? sink : new SqlStep("sql", partial, mapSide, sink, scope, true);
  for (const batch of batches) {
    const wait = first.push(batch);
    if (wait !== undefined) await wait;
  }
  await first.end();
  return sink.batches;
}

async function wideAnswer(connection: Connection, blocks: readonly RecordBatch[], sql: string): Promise<number> {
  wide.set({ threads: 1 });
  const stored = new StoredTable(connection, []);
  try {
    for (const block of blocks) await stored.append([block], () => {});
    wide.set({ threads: 2 });
    const stream = await connection.queryAsync(sql.replaceAll("{t0}", stored.sql));
    let rows = 0;
    for (let batch = stream.next(); batch !== null; batch = stream.next()) rows += batch.length;
    stream.close();
    return rows;
  } finally {
    stored.drop();
  }
}

interface Measured {
  readonly map: number;
  readonly wide: number;
  readonly rows: number;
}

async function measured(batches: readonly RecordBatch[], partial: string | null, final: string): Promise<Measured> {
  let best: Measured | null = null;
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    const blocks = await throughSteps(batches, partial);
    const between = performance.now();
    await wideAnswer(wideSide, blocks, final);
    const ended = performance.now();
    const rows = blocks.reduce((sum, { length }) => sum + length, 0);
    const now = { map: between - started, wide: ended - between, rows };
    if (best === null || now.map + now.wide < best.map + best.wide) best = now;
  }
  if (best === null) throw new Error("nothing was measured");
  return best;
}

const shown = ({ map: first, wide: second, rows }: Measured) =>
  `${(first + second).toFixed(0).padStart(6)} ms (${first.toFixed(0)} + ${second.toFixed(0)}, ${rows} rows between)`;

for (const [name, groups, aggregates] of cases) {
  const batches = [...rowsOf(groups)];
  const items = Object.entries(aggregates).map(([each, expression]) => ({ name: each, expression }));
  const node = aggregate(table("t"), [{ name: "k", expression: column("k") }], items);
  const one = await measured(batches, null, selectSql(relation(node, [selectFrom("{t0}")])));
  const phases = twoPhase(node);
  if (phases === null) {
    console.log(`${name.padEnd(34)} one ${shown(one)}   not cut`);
    continue;
  }
  const two = await measured(batches, selectSql(phases.partial(selectFrom())), selectSql(phases.final("{t0}")));
  const ratio = (two.map + two.wide) / (one.map + one.wide);
  console.log(`${name.padEnd(34)} one ${shown(one)}   two ${shown(two)}   × ${ratio.toFixed(2)}`);
}
mapSide.close();
wideSide.close();
map.close();
wide.close();
