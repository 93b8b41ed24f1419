/**
 * Files as people have them, beside DuckDB on its own without a box: one large CSV file with all workers, and many tiny files of
 * every format in a box of 512 MiB (takes root). `npm run build && npx tsx bench/micro/field-files.ts [megabytes] [files]`
 * Both read every value of the same list, in a session and a database that are up already. Seconds, the best of several turns.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { count, session, sql } from "spillway";
import { makeBox } from "../harness/box.ts";
import { type Database, openDatabase } from "../programs/duckdb.ts";

const MIB = 2 ** 20;
const BOX = 512 * MIB;
const RUNS = 3;
const COLUMNS =
  "i AS id, hash(i) % 1000000 AS k, round((hash(i + 1) % 100000) / 100.0, 2) AS x, TIMESTAMP '2020-01-01' + INTERVAL 1 SECOND * i AS t, 'name ' || (hash(i) % 5000) AS name, 'a longer text of some words ' || i AS words";
const ROW_BYTES = 97;

type Session = ReturnType<typeof session>;
type Turn = () => Promise<unknown>;

/** What DuckDB runs over the list of files; it reads no Arrow files by itself. */
const DUCKDB: Readonly<Record<string, (list: string) => string>> = {
  parquet: (list) => `SELECT count(*) AS n, sum(a) AS a, max(b) AS b FROM read_parquet(${list})`,
  csv: (list) => `SELECT count(*) AS n, sum(a) AS a, max(b) AS b FROM read_csv(${list})`,
  json: (list) => `SELECT count(*) AS n, sum(a) AS a, max(b) AS b FROM read_json(${list})`,
  text: (list) =>
    `SELECT count(*) AS n, max(line) AS b FROM (SELECT unnest(string_split(rtrim(content, chr(10)), chr(10))) AS line FROM read_text(${list}))`,
  binary: (list) => `SELECT count(*) AS n, max(content) AS b FROM read_blob(${list})`,
};

const [megabytes = "4000", files = "20000", kind, directory] = process.argv.slice(2);
if (kind === undefined || directory === undefined) await compareAll(Number(megabytes), Number(files));
else await tellOne(kind, directory);

async function compareAll(megabytes: number, files: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "field-files-"));
  const database = await openDatabase(availableParallelism());
  try {
    await large(database, directory, megabytes);
    await tiny(database, directory, files);
  } finally {
    database.close();
    rmSync(directory, { recursive: true });
  }
}

async function large(database: Database, directory: string, megabytes: number): Promise<void> {
  const file = join(directory, "large.csv");
  const rows = Math.round((megabytes * 1e6) / ROW_BYTES);
  await database.execute(`COPY (SELECT ${COLUMNS} FROM range(${rows}) r(i)) TO '${file}' (HEADER)`);
  const s = session({ progress: false });
  const values =
    "count(*) AS n, sum(id) AS id, max(k) AS k, sum(x) AS x, max(t) AS t, max(name) AS name, sum(strlen(words)) AS words";
  const out = () => mkdtempSync(join(directory, "out-"));
  await compare(
    `${megabytes} MB of CSV, summed up`,
    () =>
      s.readCsv(file).agg({
        n: count(),
        id: sql("id").sum(),
        k: sql("k").max(),
        x: sql("x").sum(),
        t: sql("t").max(),
        name: sql("name").max(),
        words: sql("strlen(words)").sum(),
      }),
    () => database.row(`SELECT ${values} FROM read_csv('${file}')`),
  );
  await compare(
    `${megabytes} MB of CSV, to Parquet`,
    () => s.readCsv(file).writeParquet(join(out(), "ours")),
    () => database.execute(`COPY (FROM read_csv('${file}')) TO '${join(out(), "theirs.parquet")}'`),
  );
  await s.close();
  rmSync(file);
}

async function tiny(database: Database, directory: string, files: number): Promise<void> {
  const one = join(directory, "one");
  const s = session({ progress: false });
  const row = s.fromItems([{ a: 1, b: "x" }]);
  await row.writeParquet(one);
  await row.writeArrow(one, { mode: "append" });
  await s.close();
  const written = (ending: string) =>
    readFileSync(join(one, readdirSync(one).find((name) => name.endsWith(ending)) ?? ""));
  const contents = {
    parquet: written("parquet"),
    arrow: written("arrow"),
    csv: "a,b\n1,x\n",
    json: '{"a":1,"b":"x"}\n',
    text: "x\n",
    binary: "x",
  };
  for (const [kind, content] of Object.entries(contents)) {
    const folder = join(directory, kind);
    mkdirSync(folder);
    for (let i = 0; i < files; i++) writeFileSync(join(folder, `${String(i).padStart(6, "0")}.${kind}`), content);
    const query = DUCKDB[kind];
    const seconds = await boxed(kind, folder);
    if (query === undefined) console.log(`${files} files, ${kind}: ${seconds.toFixed(2)} s`);
    else {
      const list = readdirSync(folder).map((name) => `'${join(folder, name)}'`);
      const own = await best(() => database.row(query(`[${list.join(", ")}]`)));
      tellRatio(`${files} files, ${kind}, in 512 MiB`, seconds, own);
    }
    rmSync(folder, { recursive: true });
  }
}

function turnOf(s: Session, kind: string, folder: string): Turn {
  const values = { n: count(), a: sql("a").sum(), b: sql("b").max() };
  switch (kind) {
    case "parquet":
      return () => s.readParquet(folder).agg(values);
    case "arrow":
      return () => s.readArrow(folder).agg(values);
    case "csv":
      return () => s.readCsv(folder).agg(values);
    case "json":
      return () => s.readJson(folder).agg(values);
    case "text":
      return () => s.readText(folder).agg({ n: count(), b: sql("text").max() });
    default:
      return () => s.readBinary(folder).agg({ n: count(), b: sql("bytes").max() });
  }
}

/** In a process of its own, inside of the box. */
async function boxed(kind: string, folder: string): Promise<number> {
  const box = await makeBox(BOX);
  try {
    const [command = "", ...args] = box.enter([
      process.execPath,
      ...process.execArgv,
      import.meta.filename,
      "0",
      "0",
      kind,
      folder,
    ]);
    const peaks = box.watch();
    const { stdout } = await promisify(execFile)(command, args);
    const { kills } = await peaks();
    if (kills > 0) console.log(`  ${kills} processes were killed in the box`);
    return Number(stdout);
  } finally {
    await box.remove();
  }
}

async function tellOne(kind: string, folder: string): Promise<void> {
  const s = session({ progress: false });
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  console.log(await best(turnOf(s, kind, folder)));
  await s.close();
}

async function compare(what: string, ours: Turn, theirs: Turn): Promise<void> {
  let [own, other] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < RUNS; run++) {
    own = Math.min(own, await seconds(ours));
    other = Math.min(other, await seconds(theirs));
  }
  tellRatio(what, own, other);
}

async function best(work: Turn): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) least = Math.min(least, await seconds(work));
  return least;
}

async function seconds(work: Turn): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function tellRatio(what: string, own: number, other: number): void {
  console.log(`${what}: ${own.toFixed(2)} s, DuckDB ${other.toFixed(2)} s, ratio ${(own / other).toFixed(2)}`);
}
