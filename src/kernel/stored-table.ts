/**
 * A table inside the kernel that grows batch by batch, in the order of the batches. Its rows are in the kernel's own
 * memory or temporary files, independent of the batches they came from. Columns are matched by name, and get a wider
 * type if a later batch needs it. Works by synchronous calls: the kernel has one thread while the table grows.
 */
import {
  childFields,
  type DataType,
  quoteIdentifier,
  type RecordBatch,
  type Schema,
  schemaEquals,
  sliceBatch,
  typeEquals,
  typeName,
} from "../arrow/index.ts";
import { RowShapeError } from "../errors/index.ts";
import type { Connection } from "./connection.ts";
import { acceptedType } from "./intake.ts";
import { hasUntypedNulls } from "./untyped-nulls.ts";
import { widerType } from "./wider-type.ts";

/** Two of the kernel's row groups. They occupy this thread for about 25 ms, during which nothing can be cancelled. */
const MOST_ROWS = 245_760;

interface Column {
  readonly name: string;
  /** The null type: all values so far were null. */
  readonly type: DataType;
}

/** What is known about a column before the first batch. A null type is unknown. */
export interface DeclaredColumn {
  readonly name: string;
  readonly type: string | null;
}

/** The only column of a table whose columns are unknown, because a table needs at least one. */
export const NO_COLUMN = "__spillway_nothing";

/** Types that Arrow does not have. The kernel converts the type that arrives back to them. */
const CONVERTED = /\b(ENUM|UUID|JSON|BIT|BIGNUM|TIME WITH TIME ZONE)\b/;

let lastNumber = 0;

export class StoredTable {
  readonly #name: string;
  #columns: readonly Column[] | null = null;
  /** The schema that matched last, and the SQL of its columns. */
  #fits: { readonly schema: Schema; readonly select: string } | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly declared: readonly DeclaredColumn[],
  ) {
    lastNumber += 1;
    this.#name = quoteIdentifier(`stored_${lastNumber}`);
  }

  /** Whether the table has columns in which all values so far were null. */
  get hasUntypedNulls(): boolean {
    return this.#columns?.some(({ type }) => hasUntypedNulls(type)) ?? false;
  }

  /** Copies the batches, which must have the same schema. `between` may throw, to stop after some of them. */
  async append(batches: readonly RecordBatch[], between: () => void | Promise<void>): Promise<void> {
    const [first] = batches;
    if (first === undefined) return;
    const select = this.#selectFor(first.schema);
    for (const piece of pieces(batches)) {
      const table = this.connection.table(piece);
      try {
        this.connection.execute(`INSERT INTO ${this.#name} SELECT ${select} FROM ${table.sql}`);
      } finally {
        table.release();
      }
      await between();
    }
  }

  /**
   * SQL in the place of a table name. Nulls of no type are shown as such, not as the integers that the kernel stores
   * for them.
   */
  get sql(): string {
    if (this.#columns === null) this.#createEmpty();
    const untyped = (this.#columns ?? []).filter(({ type }) => hasUntypedNulls(type));
    if (untyped.length === 0) return this.#name;
    const shown = untyped.map(({ name, type }) => {
      const column = quoteIdentifier(name);
      return `${cast(column, type, type, 0)} AS ${column}`;
    });
    return `(SELECT * REPLACE (${shown.join(", ")}) FROM ${this.#name})`;
  }

  drop(): void {
    if (this.#columns === null) return;
    this.#columns = null;
    this.#fits = null;
    this.connection.execute(`DROP TABLE IF EXISTS ${this.#name}`);
  }

  #selectFor(schema: Schema): string {
    if (this.#fits !== null && schemaEquals(this.#fits.schema, schema)) return this.#fits.select;
    const incoming = schema.fields.map(({ name, type }): Column => ({ name, type: acceptedType(type) }));
    if (this.#columns === null) this.#create(incoming);
    else this.#widen(this.#columns, incoming);
    const select = (this.#columns ?? []).map(({ name }) => quoteIdentifier(name)).join(", ");
    this.#fits = { schema, select };
    return select;
  }

  #create(incoming: readonly Column[]): void {
    const byName = new Map(incoming.map((column) => [column.name, column]));
    const known = new Map(this.declared.map(({ name, type }) => [name, type]));
    const asDeclared = known.size === byName.size && [...known.keys()].every((name) => byName.has(name));
    const names = asDeclared ? [...known.keys()] : [...byName.keys()];
    this.#createAs(names.map((name) => ({ name, type: byName.get(name)?.type, sql: known.get(name) ?? null })));
  }

  #createEmpty(): void {
    const declared = this.declared.length > 0 ? this.declared : [{ name: NO_COLUMN, type: null }];
    this.#createAs(declared.map(({ name, type }) => ({ name, type: undefined, sql: type })));
  }

  /**
   * The type of a column is the one that came, or the declared type if its values travel as the type that came. If no
   * values came, it is the declared type, otherwise nulls.
   */
  #createAs(
    columns: readonly { readonly name: string; readonly type: DataType | undefined; readonly sql: string | null }[],
  ): void {
    const made = columns.map(({ name, type, sql }) => {
      const came = type !== undefined && type.kind !== "null" ? type : null;
      return { name, came, sql: came === null || this.#travelsAs(sql, came) ? sql : storedType(came) };
    });
    const definitions = made.map(({ name, sql }) => `${quoteIdentifier(name)} ${sql ?? "INTEGER"}`);
    this.connection.execute(`CREATE TABLE ${this.#name} (${definitions.join(", ")})`);
    // The kernel parses the declared types.
    const { fields } = this.connection.describe(`FROM ${this.#name}`);
    this.#columns = made.map(({ name, came, sql }, index) => ({
      name,
      type: came ?? (sql === null ? { kind: "null" } : (fields[index]?.type ?? { kind: "null" })),
    }));
  }

  /**
   * Whether values of the declared type arrive as the type that came. An ENUM arrives as text, for example, which has
   * another order.
   */
  #travelsAs(declared: string | null, came: DataType): boolean {
    if (declared === null || !CONVERTED.test(declared)) return false;
    const [field] = this.connection.describe(`SELECT CAST(NULL AS ${declared}) AS c`).fields;
    return field !== undefined && typeEquals(field.type, came);
  }

  #widen(columns: readonly Column[], incoming: readonly Column[]): void {
    const byName = new Map(incoming.map((column) => [column.name, column.type]));
    refuseOthers(columns, byName);
    this.#columns = columns.map(({ name, type }) => {
      const other = byName.get(name) ?? type;
      const wider = widerType(type, other);
      if (wider === null) throw irreconcilable(name, type, other);
      if (typeEquals(wider, type)) return { name, type };
      const column = quoteIdentifier(name);
      const using = cast(column, type, wider, 0);
      this.connection.execute(`ALTER TABLE ${this.#name} ALTER ${column} TYPE ${storedType(wider)} USING ${using}`);
      return { name, type: wider };
    });
  }
}

/** Groups the batches into runs of at most this many rows. Larger batches are cut. */
function* pieces(batches: readonly RecordBatch[]): Generator<readonly RecordBatch[], void, undefined> {
  let held: RecordBatch[] = [];
  let rows = 0;
  for (const batch of batches) {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + MOST_ROWS - rows);
      held.push(sliceBatch(batch, start, end));
      rows += end - start;
      start = end;
      if (rows < MOST_ROWS) continue;
      yield held;
      held = [];
      rows = 0;
    }
  }
  if (rows > 0) yield held;
}

function refuseOthers(columns: readonly Column[], incoming: ReadonlyMap<string, DataType>): void {
  const missing = columns.find(({ name }) => !incoming.has(name))?.name;
  const known = new Set(columns.map(({ name }) => name));
  const extra = [...incoming.keys()].find((name) => !known.has(name));
  if (missing === undefined && extra === undefined) return;
  const what = missing === undefined ? `has a column "${extra}" as well` : `has no column "${missing}"`;
  throw new RowShapeError(
    `A later block ${what}. The first has ${[...known].join(", ")}; this one has ${[...incoming.keys()].join(", ")}. Rows of one table need the same columns.`,
    missing ?? extra ?? null,
  );
}

function irreconcilable(name: string, have: DataType, came: DataType): RowShapeError {
  return new RowShapeError(
    `Column "${name}" is ${typeName(have)} in some rows and ${typeName(came)} in others, and no type holds both. Always return one type, or declare it: schema: { "${name}": "${typeName(have)}" }.`,
    name,
  );
}

/** The type as the kernel stores it: it has no type for columns that contain only nulls. */
export function storedType(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "INTEGER";
    case "list":
      return `${storedType(type.child.type)}[]`;
    case "fixedList":
      return `${storedType(type.child.type)}[${type.size}]`;
    case "struct":
      return `STRUCT(${type.children.map((field) => `${quoteIdentifier(field.name)} ${storedType(field.type)}`).join(", ")})`;
    case "map":
      return `MAP(${storedType(type.key.type)}, ${storedType(type.value.type)})`;
    default:
      return typeName(type);
  }
}

/** SQL that converts a value from one type to another. Integers that stand for nulls of no type become nulls. */
function cast(value: string, from: DataType, to: DataType, depth: number): string {
  if (from.kind === "null") return to.kind === "null" ? "NULL" : `NULL::${storedType(to)}`;
  if (!hasUntypedNulls(from)) return `${value}::${storedType(to)}`;
  const [inside, outside] = [childFields(from), childFields(to)];
  const [item = NOTHING] = inside;
  const [target = NOTHING] = outside;
  const each = (list: string, one: DataType, other: DataType) =>
    `list_transform(${list}, lambda v${depth}: ${cast(`v${depth}`, one, other, depth + 1)})`;
  if (from.kind === "map" && to.kind === "map") {
    const values = each(`map_values(${value})`, from.value.type, to.value.type);
    return `CASE WHEN ${value} IS NOT NULL THEN map(${each(`map_keys(${value})`, from.key.type, to.key.type)}, ${values}) END`;
  }
  if (from.kind !== "struct") return each(value, item.type, target.type);
  const fields = inside.map(({ name, type }) => {
    const other = outside.find((field) => field.name === name)?.type ?? type;
    const field = quoteIdentifier(name);
    return `${field} := ${cast(`(${value}).${field}`, type, other, depth)}`;
  });
  return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${fields.join(", ")}) END`;
}

const NOTHING = { type: { kind: "null" } } as const;
