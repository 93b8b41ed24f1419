/**
 * A table of a fed task. Its rows are in the kernel as they came, until they turn out to be wide: then columns that the
 * SQL only hands on are taken out into the task's cargo, and the kernel has references in their place.
 *
 *   whole ─rows are wide→ referring ─more columns are wide, or one changes its type→ referring
 */
import {
  bytesOfRows,
  type DataType,
  foldedName,
  type RecordBatch,
  type Schema,
  typeEquals,
  type Vector,
} from "../../arrow/index.ts";
import { type Connection, type DeclaredColumn, hasUntypedNulls, StoredTable, storedType } from "../../kernel/index.ts";
import type { Bytes, SeenColumns } from "../../protocol/index.ts";
import type { Cargo, Compared } from "./cargo.ts";
import { Gatherer } from "./gatherer.ts";
import { numbersIn, referencesTo, referredColumn } from "./references.ts";

interface Border {
  /** Bytes of cargo in a row, from which on it stays outside of the kernel. */
  readonly row: Bytes;
  /** Columns with fewer bytes in a value are no cargo: a reference takes as much. */
  readonly column: Bytes;
}

/** Narrower rows are faster in the kernel: 12 times at 50 bytes, 2.4 times at 1 kB (bench/micro/cargo.ts). */
const BORDER: Border = { row: 8192, column: 32 };

/** For tests: a border below which no row is narrow. */
const FORCED = process.env.SPILLWAY_TEST_CARGO_BORDER;

const border: Border = FORCED === undefined ? BORDER : { row: Number(FORCED), column: 0 };

const WIDE = new Set<DataType["kind"]>(["utf8", "binary", "list", "fixedList", "struct", "map"]);
/** Their values are equal, and in order, as their bytes are. */
const BYTES = new Set<DataType["kind"]>(["utf8", "binary"]);

/** What SQL looks at in a column: its values, which values are equal, their order, or (null) nothing. */
type LooksAt = (name: string) => "value" | Compared | null;

function looksAt({ read, matched, ordered }: SeenColumns): LooksAt {
  const [values, equal, sorted] = [read, matched, ordered].map((names) => new Set(names?.map(foldedName)));
  return (name) => {
    const folded = foldedName(name);
    if (values?.has(folded)) return "value";
    if (sorted?.has(folded)) return "order";
    return matched === null || equal?.has(folded) ? "equality" : null;
  };
}

interface Scope {
  readonly connection: Connection;
  /** Made when first asked for. */
  readonly cargo: () => Cargo;
  turn(): void | Promise<void>;
}

export class ReferringTable {
  #table: StoredTable;
  /** The number of each column in the cargo. */
  #referred: ReadonlyMap<string, number> = new Map();
  /** Columns whose values came with types that do not go together: the kernel finds a type for them. */
  readonly #changing = new Set<string>();
  /** Bytes that came for each column that may be cargo. */
  readonly #bytes = new Map<string, Bytes>();
  #rows = 0;
  readonly #looksAt: LooksAt | null;

  /** `sees`: what the SQL does with its columns; null: it may look at all. */
  constructor(
    private readonly scope: Scope,
    private readonly declared: readonly DeclaredColumn[],
    sees: SeenColumns | null,
  ) {
    this.#table = new StoredTable(scope.connection, declared);
    this.#looksAt = sees === null ? null : looksAt(sees);
  }

  get hasUntypedNulls(): boolean {
    return this.#table.hasUntypedNulls;
  }

  get sql(): string {
    return this.#table.sql;
  }

  /** Copies the batches, which must have the same schema. */
  async append(batches: readonly RecordBatch[]): Promise<void> {
    const [first] = batches;
    if (first === undefined) return;
    const hasRows = this.#rows > 0;
    this.#measure(batches);
    const columns = this.#cargoIn(first.schema);
    if (!sameNames(columns, this.#referred)) await this.#turnTo(columns, hasRows);
    const turn = () => this.scope.turn();
    if (this.#referred.size === 0) return this.#table.append(batches, turn);
    for (const batch of batches) await this.#table.append([this.#refer(batch, this.#referred)], turn);
  }

  /** All rows are there: columns by which SQL orders get numbers in the order of their values. */
  async complete(): Promise<void> {
    if (this.#rows === 0) return;
    const ranks = new Map<number, Uint32Array>();
    for (const number of this.#referred.values()) {
      const ranked = this.scope.cargo().ranked(number);
      if (ranked !== null) ranks.set(number, ranked);
    }
    if (ranks.size === 0) return;
    await this.#moved((batch) => [withRanks(batch, ranks)]);
  }

  drop(): void {
    this.#table.drop();
  }

  #measure(batches: readonly RecordBatch[]): void {
    for (const { length, schema, columns } of batches) {
      this.#rows += length;
      for (const [index, { name, type }] of schema.fields.entries()) {
        const vector = columns[index];
        if (vector === undefined || !this.#mayBeCargo(name, type)) continue;
        this.#bytes.set(name, (this.#bytes.get(name) ?? 0) + bytesOfRows(vector, 0, length));
      }
    }
  }

  #mayBeCargo(name: string, type: DataType): boolean {
    if (this.#looksAt === null || !WIDE.has(type.kind)) return false;
    const what = this.#looksAt(name);
    return what === null || (what !== "value" && BYTES.has(type.kind) && this.#isPlain(name));
  }

  /** Values of other declared types, such as an ENUM, travel as texts but have another order. */
  #isPlain(name: string): boolean {
    const declared = this.declared.find((column) => column.name === name)?.type ?? null;
    return declared === null || declared === "VARCHAR" || declared === "BLOB";
  }

  #compared(name: string): Compared | null {
    const what = this.#looksAt?.(name) ?? null;
    return what === "value" ? null : what;
  }

  #bytesPerRow(name: string): Bytes {
    return (this.#bytes.get(name) ?? 0) / Math.max(1, this.#rows);
  }

  /** The columns that are cargo from these rows on, with their types. What is cargo stays it where it can. */
  #cargoIn({ fields }: Schema): ReadonlyMap<string, DataType> {
    const columns = new Map<string, DataType>();
    const types = new Map(fields.map(({ name, type }) => [name, type]));
    for (const [name, number] of this.#referred) {
      const known = this.scope.cargo().typeOf(number);
      const came = types.get(name) ?? known;
      if (came.kind === "null" || typeEquals(came, known)) columns.set(name, known);
      else this.#changing.add(name);
    }
    const wide = fields.filter(
      ({ name, type }) =>
        !columns.has(name) &&
        !this.#changing.has(name) &&
        this.#mayBeCargo(name, type) &&
        this.#bytesPerRow(name) >= border.column,
    );
    const names = [...columns.keys(), ...wide.map(({ name }) => name)];
    if (names.reduce((sum, name) => sum + this.#bytesPerRow(name), 0) < border.row) return columns;
    for (const { name, type } of wide) if (this.#comesBack(type)) columns.set(name, type);
    return columns;
  }

  /** Whether the kernel would return values of the type as they came: cargo has no other types than today. */
  #comesBack(type: DataType): boolean {
    if (hasUntypedNulls(type)) return false;
    const [field] = this.scope.connection.describe(`SELECT CAST(NULL AS ${storedType(type)}) AS c`).fields;
    return field !== undefined && typeEquals(field.type, type);
  }

  /** Rows that are there go into a new table, with other columns as references. */
  async #turnTo(columns: ReadonlyMap<string, DataType>, hasRows: boolean): Promise<void> {
    const cargo = this.scope.cargo();
    const before = this.#referred;
    this.#referred = new Map(
      [...columns].map(([name, type]) => [name, before.get(name) ?? cargo.column(type, this.#compared(name))]),
    );
    if (!hasRows) return;
    const added = new Map([...this.#referred].filter(([name]) => !before.has(name)));
    const left = new Set([...before].filter(([name]) => !columns.has(name)).map(([, number]) => number));
    let gatherer: Gatherer | null = null;
    await this.#moved((batch, schema) => {
      gatherer ??= new Gatherer(schema, cargo, (number) => left.has(number));
      return this.#referEach(gatherer.pieces(batch), added);
    });
  }

  *#referEach(
    batches: Iterable<RecordBatch>,
    columns: ReadonlyMap<string, number>,
  ): Generator<RecordBatch, void, undefined> {
    for (const batch of batches) yield this.#refer(batch, columns);
  }

  /** Moves the rows to a new table, in their order. */
  async #moved(change: (batch: RecordBatch, schema: Schema) => Iterable<RecordBatch>): Promise<void> {
    const old = this.#table;
    this.#table = new StoredTable(this.scope.connection, this.declared);
    try {
      const sql = `SELECT * FROM ${old.sql}`;
      const stream = await this.scope.connection.queryAsync(sql, { untypedNulls: old.hasUntypedNulls });
      try {
        for (let batch = stream.next(); batch !== null; batch = stream.next()) {
          for (const piece of change(batch, stream.schema)) await this.#table.append([piece], () => this.scope.turn());
        }
      } finally {
        stream.close();
      }
    } finally {
      old.drop();
    }
  }

  #refer(batch: RecordBatch, columns: ReadonlyMap<string, number>): RecordBatch {
    if (columns.size === 0) return batch;
    const taken: [number, Vector][] = [];
    const places: number[] = [];
    for (const [index, { name }] of batch.schema.fields.entries()) {
      const number = columns.get(name);
      const vector = batch.columns[index];
      if (number === undefined || vector === undefined) continue;
      taken.push([number, vector]);
      places.push(index);
    }
    const references = this.scope.cargo().keep(taken, batch.length);
    const all = [...batch.columns];
    const fields = [...batch.schema.fields];
    for (const [i, place] of places.entries()) {
      const reference = references[i];
      const field = fields[place];
      if (reference === undefined || field === undefined) continue;
      all[place] = reference;
      fields[place] = { ...field, type: reference.type, nullable: true };
    }
    return { schema: { fields }, length: batch.length, columns: all };
  }
}

function withRanks(batch: RecordBatch, ranks: ReadonlyMap<number, Uint32Array>): RecordBatch {
  const columns = batch.columns.map((vector) => {
    const number = referredColumn(vector.type);
    const ranked = number === null ? undefined : ranks.get(number);
    if (number === null || ranked === undefined) return vector;
    const numbers = numbersIn(vector);
    return referencesTo(vector, number, (row) => ranked[numbers[row] as number] as number);
  });
  return { ...batch, columns };
}

function sameNames(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && [...a.keys()].every((name) => b.has(name));
}
