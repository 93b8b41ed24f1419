/** Function steps whose input changes its types on the way: what passes has the types it came with, piece by piece. */
import { describe, expect, test } from "vitest";
import { columnsToBatch, type RecordBatch, toRows, typeName } from "../../src/arrow/index.ts";
import type { PassedColumns } from "../../src/protocol/index.ts";
import type { Link, TaskScope } from "../../src/worker/link.ts";
import { BatchFunctionStep } from "../../src/worker/steps/batch-function.ts";
import { Failures } from "../../src/worker/steps/failures.ts";
import { passedTypes } from "../../src/worker/steps/passed-types.ts";
import { RowFunctionStep } from "../../src/worker/steps/row-function.ts";

const scope: TaskScope = { check: () => {}, turn: () => {}, files: [], errored: () => {}, blamesRows: false };
const failures = new Failures("map", "fail", (stack) => stack, scope, null);
const ALL: PassedColumns = { rest: true, columns: {}, made: ["made"] };

/** What came in, a line a batch: types, then rows. A batch is read at once, as its memory is borrowed. */
function collector(): { readonly link: Link; readonly lines: string[] } {
  const lines: string[] = [];
  const link: Link = {
    push(batch) {
      const types = batch.schema.fields.map(({ name, type }) => `${name} ${typeName(type)}`).join(", ");
      lines.push(`${types}: ${JSON.stringify(toRows(batch).map((row) => Object.values(row)))}`);
    },
    end: () => {},
    close: () => {},
    wanted: Number.POSITIVE_INFINITY,
    takesEach: true,
  };
  return { link, lines };
}

const longs = columnsToBatch({ k: BigInt64Array.of(1n, 2n) });
const shorts = columnsToBatch({ k: Int16Array.of(3, 4) });
const inputs: readonly RecordBatch[] = [longs, columnsToBatch({ k: BigInt64Array.of(9n) }), shorts, longs];
const OUTPUT = [
  "k BIGINT, made DOUBLE: [[1,1],[2,1],[9,1]]",
  "k SMALLINT, made DOUBLE: [[3,1],[4,1]]",
  "k BIGINT, made DOUBLE: [[1,1],[2,1]]",
];

async function run(step: Link): Promise<void> {
  for (const batch of inputs) await step.push(batch);
  await step.end();
}

describe("[A13] a change of types", () => {
  test.each([
    ["map", "map", (row: object) => ({ ...row, made: 1 })],
    ["async map", "map", async (row: object) => ({ ...row, made: 1 })],
    ["flatMap", "flatMap", (row: object) => [{ ...row, made: 1 }]],
  ] as const)("%s", async (_, form, fn) => {
    const { link, lines } = collector();
    const call = (row: unknown) => fn(row as object);
    const step = new RowFunctionStep(
      { form, call, values: {}, declared: undefined, passes: ALL, maxInFlight: 4 },
      failures,
      link,
      scope,
    );
    await run(step);
    expect(lines).toEqual(OUTPUT);
  });

  test("mapBatches, with slow answers to the batches before", async () => {
    const { link, lines } = collector();
    const call = async (batch: unknown) => {
      const { k } = batch as { k: ArrayLike<number> };
      if (k[0] === 1) await new Promise((resolve) => setImmediate(resolve));
      return { k, made: Array.from(k, () => 1) };
    };
    const step = new BatchFunctionStep(
      {
        call,
        format: "columns",
        batchSize: 1024,
        values: {},
        declared: undefined,
        passes: { rest: false, columns: { k: "k" }, made: ["made"] },
        maxInFlight: 4,
      },
      failures,
      link,
      scope,
    );
    await run(step);
    expect(lines).toEqual(OUTPUT);
  });
});

describe("[A13] types that pass", () => {
  const { schema } = columnsToBatch(
    { a: BigInt64Array.of(1n), b: [null], c: ["x"] },
    new Map([["c", { kind: "utf8", large: false } as const]]),
  );
  const names = (passes: PassedColumns) =>
    Object.fromEntries([...passedTypes(passes, schema)].map(([name, type]) => [name, typeName(type)]));

  test("all but what is made, and but nulls of no type", () => {
    expect(names({ rest: true, columns: {}, made: [] })).toEqual({ a: "BIGINT", c: "VARCHAR" });
    expect(names({ rest: true, columns: {}, made: ["a"] })).toEqual({ c: "VARCHAR" });
  });

  test("by other names; a column that the input does not have says nothing", () => {
    expect(names({ rest: false, columns: { x: "a", y: "none", z: "b" }, made: [] })).toEqual({ x: "BIGINT" });
    expect(names({ rest: true, columns: { c: "a", a: "none" }, made: [] })).toEqual({ c: "BIGINT" });
  });

  test("a dictionary passes as its values", () => {
    const index = { kind: "int", bits: 32, signed: true } as const;
    const type = { kind: "dictionary", index, value: { kind: "utf8", large: false } } as const;
    const types = passedTypes({ rest: true, columns: {}, made: [] }, { fields: [{ name: "d", type, nullable: true }] });
    expect(types.get("d")).toEqual({ kind: "utf8", large: false });
  });
});
