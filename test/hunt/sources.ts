/** The ways in which rows get into a session. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Dataset, Session } from "spillway";
import { typeName } from "../../src/arrow/index.ts";
import { EXACT } from "../arrow/random-columns.ts";
import { type Any, type Choice, quoted } from "../end-to-end/differential/step.ts";
import { PeerError } from "./peers.ts";
import type { HostileTable } from "./tables.ts";
import type { World } from "./world.ts";

/** A dataset's rows before anything is done to them, and the reference's table of the same. */
export interface Entered {
  readonly table: string;
  readonly told: string;
  open(session: Session): Dataset<Any>;
}

/** Names of directories, some of which mean something else where they are taken for patterns or URLs. */
export const DIRECTORY_NAMES = ["plain", "a b", "re[1]port", "what*", "who?", "{a,b}", "it's", "100%25", "ünï", "x#y"];

type Way = (world: World, given: HostileTable, choice: Choice) => Entered | Promise<Entered>;

/** Three parts in the order of the rows. */
function thirds(sql: string): string[] {
  const numbered = `SELECT *, row_number() OVER () AS "nth row" FROM (${sql})`;
  return [0, 1, 2].map((i) => {
    const part = `(SELECT *, (SELECT count(*) FROM (${sql})) AS "all rows" FROM (${numbered}))`;
    const which = `("nth row" - 1) * 3 // "all rows" = ${i}`;
    return `SELECT * EXCLUDE ("nth row", "all rows") FROM ${part} WHERE ${which} ORDER BY "nth row"`;
  });
}

/** Files that the kernel writes, read by ours. Types that Parquet does not have are, in the reference too, what comes back. */
function parquet(world: World, parts: readonly string[], options: string, name: string): Entered {
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
      // Types that they have no Parquet for: intervals, maps in Polars.
      if (
        error instanceof PeerError &&
        /not implemented|unsupported|not supported|unhandled type|could not import|Expected all lists to be of size|validity mask length/i.test(
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

export const SOURCES = Object.keys(WAYS);

export async function entered(world: World, given: HostileTable, source: string, choice: Choice): Promise<Entered> {
  const way = WAYS[source];
  if (way === undefined) throw new Error(`there is no source ${source}`);
  return way(world, given, choice);
}
