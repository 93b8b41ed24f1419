/** Random tables: some columns of a pool, rows with nulls. */
import fc from "fast-check";
import type { Columns, Kind } from "./step.ts";

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 4 });
const whole = fc.integer({ min: -12, max: 12 });
/** Exact in binary, so that a double and a decimal say the same, and sums do not depend on the order. */
const quarters = fc.integer({ min: -40, max: 40 }).map((x) => x / 4);
const words = fc.constantFrom("", "a", "a'b", "zoë", "m", '"quoted"', "x".repeat(40));

interface DrawnColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: Kind;
  readonly values: fc.Arbitrary<unknown>;
}

const POOL: readonly DrawnColumn[] = [
  { name: "n", type: "BIGINT", kind: "number", values: whole },
  { name: "small", type: "TINYINT", kind: "number", values: whole },
  { name: "f", type: "DOUBLE", kind: "number", values: quarters },
  { name: "money", type: "DECIMAL(12,2)", kind: "number", values: quarters },
  {
    name: "odd",
    type: "DOUBLE",
    kind: "odd",
    values: fc.constantFrom(Number.NaN, 0, -0, 1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  },
  { name: "t", type: "VARCHAR", kind: "text", values: words },
  { name: "odd name", type: "VARCHAR", kind: "text", values: words },
  { name: "b", type: "BOOLEAN", kind: "boolean", values: fc.boolean() },
  { name: "l", type: "BIGINT[]", kind: "list", values: fc.array(nullable(whole), { maxLength: 3 }) },
  { name: "day", type: "DATE", kind: "day", values: whole.map((x) => new Date(x * 86_400_000)) },
  { name: "at", type: "TIMESTAMP", kind: "time", values: whole.map((x) => new Date(x * 1001)) },
  {
    name: "s",
    type: "STRUCT(x DOUBLE, y VARCHAR[])",
    kind: "struct",
    values: fc.record({ x: nullable(quarters), y: nullable(fc.array(nullable(words), { maxLength: 2 })) }),
  },
];

export interface Table {
  readonly columns: Columns;
  readonly schema: Readonly<Record<string, string>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export function tables(maxRows: number): fc.Arbitrary<Table> {
  return fc.subarray([...POOL], { minLength: 1 }).chain((columns) =>
    fc
      .array(fc.record(Object.fromEntries(columns.map(({ name, values }) => [name, nullable(values)]))), {
        maxLength: maxRows,
      })
      .map((rows) => ({
        columns: new Map(columns.map(({ name, kind }) => [name, kind])),
        schema: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
        rows,
      })),
  );
}

/** Bytes of the rows of a table that has any, at least. */
export const PADDED_BYTES = 800_000;
const PAD_BYTES = 9000;

/** So large that a small store has to spill: wide rows, and each as often as it takes. */
export function padded({ columns, schema, rows }: Table): Table {
  const times = rows.length === 0 ? 0 : Math.ceil(PADDED_BYTES / PAD_BYTES / rows.length);
  const repeated = Array.from({ length: times }, () => rows).flat();
  return {
    columns: new Map([...columns, ["pad", "wide"]]),
    schema: { ...schema, pad: "VARCHAR" },
    rows: repeated.map((row, i) => ({ ...row, pad: `${i % 7}`.repeat(PAD_BYTES) })),
  };
}
