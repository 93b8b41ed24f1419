/** The ways in which rows get into a session. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Dataset, Session } from "spillway";
import { typeName } from "../../src/arrow/index.ts";
import { EXACT } from "../arrow/random-columns.ts";
import { type Any, type Choice, type Columns, quoted } from "../end-to-end/differential/step.ts";
import { PeerError } from "./peers.ts";
import type { HostileTable } from "./tables.ts";
import { TEXTS } from "./values.ts";
import type { World } from "./world.ts";

/** A dataset's rows before anything is done to them, and the reference's table of the same. */
export interface Entered {
  readonly table: string;
  readonly columns: Columns;
  readonly told: string;
  open(session: Session): Dataset<Any>;
}

/** Names of directories, some of which mean something else where they are taken for patterns or URLs. */
export const DIRECTORY_NAMES = ["plain", "a b", "re[1]port", "what*", "who?", "{a,b}", "it's", "100%25", "ünï", "x#y"];

/** No ends of lines, and no mark of byte order. */
const LINES = TEXTS.filter((text) => !/[\n\uFEFF]/.test(text));

type Told = Omit<Entered, "columns">;
type Way = (world: World, given: HostileTable, choice: Choice) => Told | Promise<Told>;
/** Of rows that the source itself is about. */
type OwnWay = (world: World, choice: Choice) => Entered;

/** Three parts in the order of the rows. */
function thirds(sql: string): string[] {
  const numbered = `SELECT *, row_number() OVER () AS "nth row" FROM (${sql})`;
  return [0, 1, 2].map((i) => {
    const part = `(SELECT *, (SELECT count(*) FROM (${sql})) AS "all rows" FROM (${numbered}))`;
    const which = `("nth row" - 1) * 3 // "all rows" = ${i}`;
    return `SELECT * EXCLUDE ("nth row", "all rows") FROM ${part} WHERE ${which} ORDER BY "nth row"`;
  });
}

/**
 * Files that the kernel writes, read by ours. Types that Parquet does not have are, in the reference too, what comes
 * back.
 */
function parquet(world: World, parts: readonly string[], options: string, name: string): Told {
  const { reference } = world;
  const written = world.path("written");
  mkdirSync(written);
  parts.forEach((sql, i) => {
    // Files have no negative intervals, and the kernel refuses them.
    const kept = sql.replaceAll("'-1 microsecond'", "'1 microsecond'");
    reference.execute(`COPY (${kept}) TO '${written}/${i}.parquet' (FORMAT parquet${options})`);
  });
  const table = reference.asked(`FROM read_parquet('${written}/*.parquet')`);
  if (table === null) throw new Error("too many rows to begin with");
  const shown = join(dirname(written), name);
  renameSync(written, shown);
  return { table, told: `readParquet(${name})${options}`, open: (s) => s.readParquet(shown) };
}

const WAYS: Readonly<Record<string, Way>> = {
  items({ reference }, { sql }) {
    const table = reference.loaded(reference.arrow(sql));
    const { fields } = reference.schema(`FROM ${table}`);
    const schema = Object.fromEntries(fields.map((field) => [field.name, typeName(field.type)]));
    const rows = reference.rows(`FROM ${table}`, EXACT);
    return { table, told: "fromItems", open: (s) => s.fromItems(rows, { schema, overrideNumBlocks: 3 }) };
  },
  table({ reference }, { sql }) {
    const bytes = reference.arrow(sql);
    const table = reference.loaded(bytes);
    return { table, told: "fromArrow", open: (s) => s.fromArrow(bytes, { overrideNumBlocks: 2 }) };
  },
  arrow(world, { sql }, choice) {
    const { reference } = world;
    const directory = world.path(choice.of(DIRECTORY_NAMES));
    mkdirSync(directory);
    const bytes = reference.arrow(sql);
    writeFileSync(join(directory, "rows.arrow"), bytes);
    return { table: reference.loaded(bytes), told: `readArrow(${directory})`, open: (s) => s.readArrow(directory) };
  },
  parquet(world, { sql }, choice) {
    const options = choice.of(["", ", ROW_GROUP_SIZE 2048", ", COMPRESSION zstd", ", COMPRESSION gzip"]);
    return parquet(world, [sql], options, choice.of(DIRECTORY_NAMES));
  },
  severalParquet(world, { sql }, choice) {
    return parquet(world, thirds(sql), ", PARQUET_VERSION v2", choice.of(DIRECTORY_NAMES));
  },
  /** Written by pyarrow or Polars, and read by pyarrow for the reference: in the types that the kernel gives them. */
  async peerParquet(world, given, choice) {
    const { peers, reference } = world;
    const name = choice.of(DIRECTORY_NAMES);
    const kernel = () => parquet(world, thirds(given.sql), "", name);
    if (peers === null) return kernel();
    const [file, directory, read] = [world.path("rows.arrow"), world.path(name), world.path("read.arrow")];
    writeFileSync(file, reference.arrow(given.sql));
    mkdirSync(directory);
    const writing = choice.of(await peers.writings());
    try {
      await peers.call("parquet", { file, directory, writing, read });
    } catch (error) {
      // Types that they have no Parquet for: intervals, maps in Polars, nanoseconds in files of version 1.0.
      if (
        error instanceof PeerError &&
        /not implemented|unsupported|not supported|unhandled type|could not import|Expected all lists to be of size|validity mask length|would lose data/i.test(
          error.message,
        )
      )
        return kernel();
      throw error;
    }
    const own = join(dirname(read), "own");
    renameSync(directory, own);
    const { fields } = reference.schema(`FROM read_parquet('${own}/*.parquet')`);
    renameSync(own, directory);
    const values = reference.loaded(readFileSync(read));
    const typed = fields.map((f) => `CAST(${quoted(f.name)} AS ${typeName(f.type)}) AS ${quoted(f.name)}`);
    const table = reference.asked(`SELECT ${typed.join(", ")} FROM ${values}`);
    if (table === null) throw new Error("what pyarrow reads does not fit the types of the files");
    return { table, told: `readParquet(${name}) of ${writing}`, open: (s) => s.readParquet(directory) };
  },
};

/** Texts as literals of the kernel's SQL, or no row. */
function listed({ reference }: World, rows: readonly string[], names: string): string {
  const nothing = names.split(", ").map((name) => `'' AS ${name}`);
  const sql =
    rows.length === 0 ? `SELECT ${nothing.join(", ")} LIMIT 0` : `FROM (VALUES ${rows.join(", ")}) v(${names})`;
  const table = reference.asked(sql);
  if (table === null) throw new Error("too many rows to begin with");
  return table;
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

const OWN_WAYS: Readonly<Record<string, OwnWay>> = {
  range({ reference }, choice) {
    const [start, step, count] = [choice.below(50) - 25, choice.of([1, 2, -3, 7]), choice.below(60)];
    const end = start + step * count;
    const table = reference.asked(`SELECT range AS id FROM range(${start}, ${end}, ${step})`);
    if (table === null) throw new Error("too many rows to begin with");
    const overrideNumBlocks = 1 + choice.below(4);
    const open = (s: Session) => s.range(start, end, step, { overrideNumBlocks });
    return { table, columns: new Map([["id", "number"]]), told: `range(${start}, ${end}, ${step})`, open };
  },
  text(world, choice) {
    const directory = world.path(choice.of(DIRECTORY_NAMES));
    mkdirSync(directory);
    const includePaths = choice.chance(2);
    const options = { includePaths, ...(choice.chance(2) ? { overrideNumBlocks: 1 + choice.below(4) } : {}) };
    const rows: string[] = [];
    const packed = choice.chance(3);
    for (const plainName of ["a.txt", "it's.txt"]) {
      const name = packed ? `${plainName}.gz` : plainName;
      const lines = Array.from({ length: choice.below(9) }, () => choice.of(LINES));
      const end = choice.of(["\n", "\r\n"]);
      const content = lines.join(end) + (lines.length > 0 && choice.chance(2) ? end : "");
      writeFileSync(join(directory, name), packed ? gzipSync(content) : content);
      const plain = content.replaceAll("\r\n", "\n").replace(/\n$/, "");
      if (content !== "")
        for (const line of plain.split("\n")) rows.push(`(${[line, join(directory, name)].map(literal).join(", ")})`);
    }
    const all = listed(world, rows, "text, path");
    const table = includePaths ? all : (world.reference.asked(`SELECT text FROM ${all}`) ?? all);
    const columns: Columns = new Map([["text", "text"], ...(includePaths ? ([["path", "text"]] as const) : [])]);
    return { table, columns, told: `readText(${directory})`, open: (s) => s.readText(directory, options) };
  },
  binary(world, choice) {
    const directory = world.path(choice.of(DIRECTORY_NAMES));
    mkdirSync(directory);
    const rows = ["0.bin", "it's [1].bin", "two"].slice(0, 1 + choice.below(3)).map((name) => {
      const bytes = Buffer.from(Array.from({ length: choice.below(40) }, () => choice.below(256)));
      writeFileSync(join(directory, name), bytes);
      return `(${literal(join(directory, name))}, from_hex('${bytes.toString("hex")}'))`;
    });
    const columns: Columns = new Map([
      ["path", "text"],
      ["bytes", "blob"],
    ]);
    const table = listed(world, rows, "path, bytes");
    return { table, columns, told: `readBinary(${directory})`, open: (s) => s.readBinary(directory) };
  },
};

/** Ways for rows of any columns, and all there are. */
export const TABLE_SOURCES = Object.keys(WAYS);
export const SOURCES = [...TABLE_SOURCES, ...Object.keys(OWN_WAYS)];

export async function entered(world: World, given: HostileTable, source: string, choice: Choice): Promise<Entered> {
  const own = OWN_WAYS[source];
  if (own !== undefined) return own(world, choice);
  const way = WAYS[source];
  if (way === undefined) throw new Error(`there is no source ${source}`);
  return { ...(await way(world, given, choice)), columns: given.columns };
}
