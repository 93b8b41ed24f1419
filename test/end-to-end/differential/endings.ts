/** What is done with the rows of a chain at its end, and held against the reference's. */
import { deepStrictEqual, equal, ok } from "node:assert/strict";
import { col, type Dataset } from "spillway";
import type { ValueOptions } from "../../../src/arrow/index.ts";
import type { DataType } from "../../../src/arrow/types.ts";
import type { Chain } from "./chain.ts";
import { bagOf, inOrder, notAmong, type Rows, textOf, valueText } from "./compare.ts";
import type { Reference } from "./reference.ts";
import { type Any, type Choice, keysIn, quoted, quotedList } from "./step.ts";

export interface End {
  readonly ds: Dataset<Any>;
  readonly chain: Chain;
  readonly choice: Choice;
  readonly reference: Reference;
  readonly values: ValueOptions;
  /** A directory that is not there yet. */
  readonly out: string;
}

const expected = ({ reference, chain, values }: End): Rows => reference.rows(`FROM ${chain.table}`, values);

function sameBag(got: Rows, end: End): void {
  deepStrictEqual(bagOf(got, end.chain.columns), bagOf(expected(end), end.chain.columns));
}

function sameOrder(got: Rows, end: End): void {
  const { columns, order } = end.chain;
  deepStrictEqual(inOrder(got, columns, order), inOrder(expected(end), columns, order));
}

function among(got: Rows, end: End): void {
  equal(notAmong(bagOf(got, end.chain.columns), bagOf(expected(end), end.chain.columns)), null);
}

/** The type that Parquet has for coarse timestamps and lists of them; null for every other. */
function keptType(type: DataType): string | null {
  if (type.kind === "timestamp") return type.unit === "s" || type.unit === "ms" ? "TIMESTAMP" : null;
  if (type.kind !== "list") return null;
  const of = keptType(type.child.type);
  return of === null ? null : `${of}[]`;
}

/** What Parquet keeps: of timestamps one type for seconds, milliseconds and microseconds. */
function inParquet({ reference, chain }: End): string {
  const { fields } = reference.schema(`FROM ${chain.table}`);
  const casts = fields.flatMap(({ name, type }) => {
    const kept = keptType(type);
    return kept === null ? [] : [`CAST(${quoted(name)} AS ${kept}) AS ${quoted(name)}`];
  });
  return casts.length === 0 ? `FROM ${chain.table}` : `SELECT * REPLACE (${casts.join(", ")}) FROM ${chain.table}`;
}

export const ENDINGS = {
  async takeAll(end: End) {
    sameOrder(await end.ds.takeAll(end.values), end);
  },
  async count(end: End) {
    equal(await end.ds.count(), expected(end).length);
  },
  async iterBatches(end: End) {
    const got: Rows[number][] = [];
    for await (const batch of end.ds.iterBatches({ batchFormat: "rows", batchSize: 5, ...end.values }))
      got.push(...batch);
    sameOrder(got, end);
  },
  async take(end: End) {
    const n = end.choice.below(30);
    const got: Rows = await end.ds.take(n, end.values);
    const all = expected(end);
    equal(got.length, Math.min(n, all.length));
    if (end.chain.order !== "total") among(got, end);
    else deepStrictEqual(bagOf(got, end.chain.columns), bagOf(all.slice(0, n), end.chain.columns));
  },
  async materialize(end: End) {
    const kept = await end.ds.materialize();
    try {
      sameOrder(await kept.takeAll(end.values), end);
    } finally {
      kept.dispose();
    }
  },
  async writeParquet(end: End) {
    const { files } = await end.ds.writeParquet(end.out);
    // One by one: a file of a column that is null throughout may not know its type.
    const got = files.flatMap((file) => end.reference.rows(`FROM read_parquet('${file}')`, end.values));
    const wanted = end.reference.rows(inParquet(end), end.values);
    deepStrictEqual(bagOf(got, end.chain.columns), bagOf(wanted, end.chain.columns));
  },
  async sampleFraction(end: End) {
    among(await end.ds.sample({ fraction: 0.4, seed: 5 }).takeAll(end.values), end);
  },
  async sampleRows(end: End) {
    const rows = end.choice.below(30);
    const got = await end.ds.sample({ rows, seed: 5 }).takeAll(end.values);
    equal(got.length, Math.min(rows, expected(end).length));
    among(got, end);
  },
  async shuffleTwice(end: End) {
    const shuffled = end.ds.randomShuffle({ seed: 11 });
    const got: Rows = await shuffled.takeAll(end.values);
    sameBag(got, end);
    if (end.chain.order !== "total") return;
    deepStrictEqual((await shuffled.takeAll(end.values)).map(textOf), got.map(textOf));
  },
  async first(end: End) {
    const { columns, table } = end.chain;
    const keys = end.choice.some(keysIn(columns), 2);
    const name = end.choice.of([...columns.keys()]);
    const got: Rows = await end.ds
      .groupBy(...keys)
      .agg({ one: col(name).first() })
      .takeAll(end.values);
    const listed = [...keys.map(quoted), `list(${quoted(name)}) AS all_values`].join(", ");
    const groups = keys.length === 0 ? "" : ` GROUP BY ${quotedList(keys)}`;
    const lists = end.reference.rows(`SELECT ${listed} FROM ${table}${groups}`, end.values);
    const keyText = (row: Rows[number]) => keys.map((key) => valueText(row[key], columns.get(key))).join(", ");
    const all = new Map(lists.map((row) => [keyText(row), row.all_values]));
    deepStrictEqual(got.map(keyText).sort(), [...all.keys()].sort());
    const text = (value: unknown) => valueText(value, columns.get(name));
    for (const row of got) {
      const list = all.get(keyText(row));
      const known =
        Array.isArray(list) || ArrayBuffer.isView(list) ? Array.from(list as Iterable<unknown>, text) : ["null"];
      ok(known.includes(text(row.one)), `first() gave ${text(row.one)}, which is none of ${known}`);
    }
  },
  async distinctColumns(end: End) {
    const keys = end.choice.some(keysIn(end.chain.columns), 2);
    if (keys.length === 0) return;
    const got = await end.ds.distinct(...keys).takeAll(end.values);
    const distinct = `SELECT DISTINCT ${quotedList(keys)} FROM ${end.chain.table}`;
    const [counted] = end.reference.rows(`SELECT count(*) AS n FROM (${distinct})`);
    equal(got.length, Number(counted?.n));
    among(got, end);
  },
};

export type Ending = keyof typeof ENDINGS;
/** All rows, in their order, is what most chains end with. */
export const DRAWN_ENDINGS: readonly Ending[] = [
  ...(["takeAll", "takeAll", "takeAll", "takeAll"] as const),
  ...(Object.keys(ENDINGS) as Ending[]),
];
