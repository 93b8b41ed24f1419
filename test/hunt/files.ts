/** Rows written by every sink and read again, by our readers and by the peers: what the format keeps is as it was. */
import { deepStrictEqual } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { type Dataset, type Session, WriteError, type WriteSummary } from "spillway";
import { typeName } from "../../src/arrow/index.ts";
import { EXACT } from "../arrow/random-columns.ts";
import { bagOf } from "../end-to-end/differential/compare.ts";
import { type Any, Choice, type Columns, quoted } from "../end-to-end/differential/step.ts";
import { Difference } from "./difference.ts";
import { PeerError } from "./peers.ts";
import { DIRECTORY_NAMES, entered, TABLE_SOURCES } from "./sources.ts";
import { type HostileTable, hostileTables } from "./tables.ts";
import type { Size, World } from "./world.ts";

interface Format {
  readonly compressions: readonly string[];
  write(ds: Dataset<Any>, path: string, options: Any): Promise<WriteSummary>;
  read(
    session: Session,
    path: string,
    schema: Readonly<Record<string, string>>,
    partitionBy: readonly string[],
    more: { readonly compression?: string; readonly overrideNumBlocks?: number },
  ): Dataset<Any>;
  /** SQL for what is left of a column; null where the format has nothing like it. */
  kept(q: string, type: string): string | null;
  /** The peers that read it. */
  readonly peers: readonly string[];
}

const NESTED = /\[|^(STRUCT|MAP)/;
/** Documented: they are null in JSON. */
const FLOATS = /^(FLOAT|DOUBLE)$/;

/** The files tell the types of their own columns; folders do not. */
function only(schema: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)));
}

const FORMATS: Readonly<Record<string, Format>> = {
  parquet: {
    compressions: ["snappy", "zstd", "gzip", "lz4", "brotli", "uncompressed"],
    write: (ds, path, options) => ds.writeParquet(path, options),
    read: (s, path, schema, partitionBy) => s.readParquet(path, { schema: only(schema, partitionBy) }),
    kept(q, type) {
      // The format has milliseconds and finer, and no fixed lists; the kernel knows one type for the first two.
      if (type === "TIMESTAMP_S" || type === "TIMESTAMP_MS") return `CAST(${q} AS TIMESTAMP)`;
      if (type === "DOUBLE[2]") return `CAST(${q} AS DOUBLE[])`;
      return type === "INTERVAL" ? null : q;
    },
    peers: ["pyarrow parquet", "polars parquet"],
  },
  arrow: {
    compressions: ["none"],
    write: (ds, path, options) => ds.writeArrow(path, options),
    read: (s, path, schema, partitionBy) => s.readArrow(path, { schema: only(schema, partitionBy) }),
    kept: (q) => q,
    peers: ["pyarrow arrow", "polars arrow"],
  },
  csv: {
    compressions: ["none", "gzip", "zstd"],
    write: (ds, path, options) => ds.writeCsv(path, options),
    read: (s, path, schema, _, more) => s.readCsv(path, { schema, ...more }),
    kept(q, type) {
      if (NESTED.test(type)) return null;
      return q;
    },
    peers: [],
  },
  json: {
    compressions: ["none", "gzip", "zstd"],
    write: (ds, path, options) => ds.writeJson(path, options),
    read: (s, path, schema, _, more) => s.readJson(path, { schema, ...more }),
    kept(q, type) {
      if (/DOUBLE|MAP/.test(type) && NESTED.test(type)) return null;
      return FLOATS.test(type) ? `CASE WHEN isfinite(${q}) THEN ${q} END` : q;
    },
    peers: [],
  },
};

export const files = fc.tuple(
  hostileTables(30, 4),
  fc.array(fc.nat({ max: 100_000 }), { minLength: 24, maxLength: 24 }),
  fc.constantFrom(...TABLE_SOURCES),
  fc.constantFrom(...Object.keys(FORMATS)),
  fc.constantFrom<Size>("roomy", "usual"),
);

type Drawn = [HostileTable, number[], string, string, Size];

export async function playFiles(world: World, [given, drawn, source, name, size]: Drawn): Promise<void> {
  const { reference } = world;
  const format = FORMATS[name];
  if (format === undefined) throw new Error(`there is no format ${name}`);
  const choice = new Choice(drawn);
  const first = await entered(world, given, source, choice);
  const types = new Map(reference.schema(`FROM ${first.table}`).fields.map((f) => [f.name, typeName(f.type)]));
  const kept = [...types].flatMap(([column, type]) => {
    const sql = format.kept(quoted(column), type);
    return sql === null ? [] : [[column, sql] as const];
  });
  if (kept.length === 0) return;
  const columns: Columns = new Map(kept.map(([column]) => [column, given.columns.get(column) ?? "text"]));
  const partitionBy = choice.chance(3) ? partitions(kept, types, choice) : [];
  // Names of folders are texts, which keep what the format does not.
  const listed = kept.map(
    ([column, sql]) => `${partitionBy.includes(column) ? quoted(column) : sql} AS ${quoted(column)}`,
  );
  const table = reference.asked(`SELECT ${listed.join(", ")} FROM ${first.table}`);
  if (table === null) throw new Error("what a format keeps is never refused");
  const wanted = (values: string) => bagOf(reference.rows(`FROM ${values}`, EXACT), columns);

  const options = {
    compression: choice.of(format.compressions),
    ...(partitionBy.length > 0 ? { partitionBy } : {}),
    ...(choice.chance(4) ? { maxRowsPerFile: 1 + choice.below(9) } : {}),
  };
  const [mapped, exchange] = [choice.chance(2), choice.chance(2)];
  const session = world.session(size, exchange);
  const directory = join(dirname(world.path("x")), choice.of(DIRECTORY_NAMES));
  // The kernel takes what follows a question mark for no part of a name, and does not find compression by it.
  const compression = directory.includes("?") && /^(csv|json)$/.test(name) ? { compression: options.compression } : {};
  const blocks = choice.chance(2) ? { overrideNumBlocks: 1 + choice.below(5) } : {};
  // Polars has no maps, and reads a list of structs.
  const readers = format.peers.filter(
    (reader) => !reader.startsWith("polars") || !/MAP/.test([...types.values()].join()),
  );
  // The kernel writes a UUID as sixteen bytes, which Arrow has as texts.
  const uuids = [...given.types.values()].includes("UUID");
  const peer = partitionBy.length === 0 && !uuids && readers.length > 0 ? choice.of(readers) : null;
  try {
    const chosen = first.open(session).select(...columns.keys());
    const ds = mapped ? chosen.map((row: Any) => ({ ...row }), EXACT) : chosen;
    const { files: written, rows } = await format.write(ds, directory, options);
    deepStrictEqual(rows, given.rows);
    if (written.length === 0) return;
    const schema = Object.fromEntries([...types].filter(([column]) => columns.has(column)));
    const read = format.read(session, directory, schema, partitionBy, { ...compression, ...blocks });
    deepStrictEqual(bagOf(await read.takeAll(EXACT), columns), wanted(table));
    deepStrictEqual(await read.count(), given.rows);
    if (world.peers === null || peer === null) return;
    const values = await peerRead(world, peer, written, table);
    if (values !== null) deepStrictEqual(bagOf(values, columns), wanted(table));
  } catch (error) {
    if (error instanceof WriteError && /ENAMETOOLONG|File name too long/.test(error.message)) return;
    const plan = [
      first.told,
      ...(mapped ? ["map"] : []),
      `write ${name} ${JSON.stringify(options)}`,
      `read ${JSON.stringify(blocks)}, ${peer}`,
    ];
    throw new Difference(
      {
        session: `${size} store, exchange ${exchange}`,
        plan: plan.join("\n  -> "),
        types: [...types].join(" "),
        rows: given.sql,
      },
      error,
    );
  }
}

/** Columns whose values can be names of folders, and not all. */
function partitions(
  kept: readonly (readonly [string, string])[],
  types: ReadonlyMap<string, string>,
  choice: Choice,
): readonly string[] {
  // The kernel takes a star for all columns.
  const names = kept.map(([column]) => column).filter((column) => column !== "*");
  const plain = names.filter((column) => !NESTED.test(types.get(column) ?? ""));
  return kept.length < 2 || plain.length === 0 ? [] : choice.some(plain, Math.min(2, kept.length - 1));
}

/** What a peer reads of the files, in the types of a table; null where it has no such type. */
async function peerRead(world: World, reader: string, written: readonly string[], table: string) {
  const { reference, peers } = world;
  const read = world.path("read.arrow");
  try {
    await peers?.call("read_files", { files: written, reader, read });
  } catch (error) {
    if (error instanceof PeerError && /not implemented|unsupported|not supported|could not import/i.test(error.message))
      return null;
    throw error;
  }
  const values = reference.loaded(readFileSync(read));
  const { fields } = reference.schema(`FROM ${table}`);
  const typed = fields.map(({ name, type }) => {
    // The kernel makes seconds of no other timestamps than its own.
    const value = typeName(type) === "TIMESTAMP_S" ? `CAST(${quoted(name)} AS TIMESTAMP)` : quoted(name);
    return `CAST(${value} AS ${typeName(type)}) AS ${quoted(name)}`;
  });
  return reference.rows(`SELECT ${typed.join(", ")} FROM ${values}`, EXACT);
}
