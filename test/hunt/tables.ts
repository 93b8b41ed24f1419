/** Random tables of hostile values: columns of odd names, nulls, and rows as the kernel's SQL writes them. */
import fc from "fast-check";
import { type Columns, isTaken, quoted } from "../end-to-end/differential/step.ts";
import { HOSTILE, type HostileType, TAME } from "./values.ts";

/**
 * Not `file_row_number`: the kernel numbers the rows of a Parquet file under that name, and refuses files that have it.
 */
const NAMES = [
  ...[
    "n",
    "N",
    "x",
    "X",
    "y",
    "k",
    "text",
    "Text",
    "odd name",
    'q"uote',
    "it's",
    "[x]",
    "*",
    "?",
    "a.b",
    "k=v",
    "100%",
    "ünï",
    "日本",
  ],
  ...["__proto__", "constructor", "toString", "NULL", "select", "line\nbreak", "rowid", "path", "filename"],
];

export interface HostileTable {
  readonly columns: Columns;
  readonly types: ReadonlyMap<string, string>;
  /** A SELECT of the rows. */
  readonly sql: string;
  readonly rows: number;
}

interface DrawnColumn extends HostileType {
  readonly name: string;
}

const column = (name: string): fc.Arbitrary<DrawnColumn> =>
  fc.oneof(fc.constantFrom(...TAME), fc.constantFrom(...HOSTILE)).map((type) => ({ ...type, name }));

function literal({ literals }: DrawnColumn, allNull: boolean): fc.Arbitrary<string> {
  if (allNull) return fc.constant("NULL");
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant("NULL") },
    { weight: 4, arbitrary: fc.constantFrom(...literals) },
  );
}

export function tableOf(columns: readonly DrawnColumn[], rows: readonly (readonly string[])[]): HostileTable {
  const cast = (text: string, { type }: DrawnColumn) => `CAST(${text} AS ${type})`;
  const lines = rows.map((row) => `(${columns.map((each, i) => cast(row[i] ?? "NULL", each)).join(", ")})`);
  const nothing = columns.map((each) => `${cast("NULL", each)} AS ${quoted(each.name)}`).join(", ");
  return {
    columns: new Map(columns.map(({ name, kind }) => [name, kind])),
    types: new Map(columns.map(({ name, type }) => [name, type])),
    rows: rows.length,
    sql:
      rows.length === 0
        ? `SELECT ${nothing} LIMIT 0`
        : `FROM (VALUES ${lines.join(",\n  ")}) v(${columns.map(({ name }) => quoted(name)).join(", ")})`,
  };
}

export function hostileTables(maxRows: number, maxColumns = 5): fc.Arbitrary<HostileTable> {
  return fc
    .shuffledSubarray(NAMES, { minLength: 1, maxLength: maxColumns })
    .map((names) => names.filter((name, i) => !isTaken(names.slice(0, i), name)))
    .chain((names) => fc.tuple(...names.map(column)))
    .chain((columns) =>
      fc
        .tuple(...columns.map((each) => fc.integer({ min: 0, max: 11 }).map((n) => [each, n === 11] as const)))
        .chain((drawn) =>
          fc.array(fc.tuple(...drawn.map(([each, allNull]) => literal(each, allNull))), {
            maxLength: maxRows,
            size: "max",
          }),
        )
        .map((rows) => tableOf(columns, rows)),
    );
}
