/**
 * Typical files, compared with DuckDB alone outside of a box: one large CSV file with all workers, and many tiny files
 * of every format in a box of 512 MiB (needs root). `npm run build && npx tsx bench/micro/field-files.ts [megabytes]
 * [files]` Both read every value of the same files, with a session and a database that are already running, and take
 * turns. Prints the least of several turns, and our first one, in which the session had not seen the files before:
 * seconds, and CPU seconds of all processes, whose ratio counts if the machine has other work.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { count, session, sql } from "spillway";
import { makeBox } from "../harness/box.ts";
import { type CpuGroup, makeCpuGroup } from "../harness/cpu-group.ts";
import { type Database, openDatabase } from "../programs/duckdb.ts";

const MIB = 2 ** 20;
const BOX = 512 * MIB;
const RUNS = 3;
const COLUMNS =
  "i AS id, hash(i) % 1000000 AS k, round((hash(i + 1) % 100000) / 100.0, 2) AS x, TIMESTAMP '2020-01-01' + INTERVAL 1 SECOND * i AS t, 'name ' || (hash(i) % 5000) AS name, 'a longer text of some words ' || i AS words";
const ROW_BYTES = 97;

type Session = ReturnType<typeof session>;
type Turn = () => Promise<unknown>;

interface Took {
  readonly seconds: number;
  readonly cpu: number;
}

const NEVER: Took = { seconds: Number.POSITIVE_INFINITY, cpu: Number.POSITIVE_INFINITY };

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
  const values =
    "count(*) AS n, sum(id) AS id, max(k) AS k, sum(x) AS x, max(t) AS t, max(name) AS name, sum(strlen(words)) AS words";
  const out = () => mkdtempSync(join(directory, "out-"));
  const queries = {
    "summed up": () => database.row(`SELECT ${values} FROM read_csv('${file}')`),
    "to Parquet": () => database.execute(`COPY (FROM read_csv('${file}')) TO '${join(out(), "theirs.parquet")}'`),
  };
  for (const [what, theirs] of Object.entries(queries)) {
    await compare(`${megabytes} MB of CSV, ${what}`, what, file, null, theirs);
  }
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
    const list = readdirSync(folder).map((name) => `'${join(folder, name)}'`);
    const theirs = query === undefined ? null : () => database.row(query(`[${list.join(", ")}]`));
    await compare(`${files} files, ${kind}, in 512 MiB`, kind, folder, BOX, theirs);
    rmSync(folder, { recursive: true });
  }
}

function turnOf(s: Session, kind: string, folder: string): Turn {
  const values = { n: count(), a: sql("a").sum(), b: sql("b").max() };
  switch (kind) {
    case "summed up":
      return () =>
        s.readCsv(folder).agg({
          n: count(),
          id: sql("id").sum(),
          k: sql("k").max(),
          x: sql("x").sum(),
          t: sql("t").max(),
          name: sql("name").max(),
          words: sql("strlen(words)").sum(),
        });
    case "to Parquet":
      return () => s.readCsv(folder).writeParquet(join(mkdtempSync(join(tmpdir(), "field-out-")), "ours"));
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

/** Ours in a process of its own, perhaps inside of a box, which takes a turn for each line that it is sent. */
async function compare(
  what: string,
  kind: string,
  place: string,
  limit: number | null,
  theirs: Turn | null,
): Promise<void> {
  const cpu = await makeCpuGroup();
  const box = limit === null ? null : await makeBox(limit);
  const own = [process.execPath, ...process.execArgv, import.meta.filename, "0", "0", kind, place];
  const [command = "", ...args] = cpu.enter(box === null ? own : box.enter(own));
  const peaks = box?.watch();
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  try {
    await answers.next();
    const least = { own: NEVER, other: NEVER };
    let first: Took | null = null;
    for (let run = 0; run < RUNS; run++) {
      const own = await measured(cpu.used, () => asked(child.stdin, answers));
      first ??= own;
      least.own = lesser(least.own, own);
      if (theirs !== null) least.other = lesser(least.other, await measured(ownCpu, theirs));
    }
    tell(what, least.own, theirs === null ? null : least.other);
    if (first !== null) tell("  the first time", first, theirs === null ? null : least.other);
    child.stdin.end();
    await answers.next();
    const { kills = 0 } = (await peaks?.()) ?? {};
    if (kills > 0) console.log(`  ${kills} processes were killed in the box`);
  } finally {
    child.stdin.end();
    await box?.remove();
    await cpu.remove();
  }
}

async function asked(to: NodeJS.WritableStream, answers: AsyncIterator<string>): Promise<void> {
  to.write("go\n");
  const { done, value } = await answers.next();
  if (done === true || value !== "done") throw new Error(`the measured process ended, or said ${String(value)}`);
}

async function tellOne(kind: string, place: string): Promise<void> {
  const s = session({ progress: false });
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  console.log("ready");
  for await (const _ of createInterface(process.stdin)) {
    await turnOf(s, kind, place)();
    console.log("done");
  }
  await s.close();
}

async function measured(used: CpuGroup["used"], work: Turn): Promise<Took> {
  const [cpu, start] = [await used(), performance.now()];
  await work();
  const seconds = (performance.now() - start) / 1000;
  return { seconds, cpu: (await used()) - cpu };
}

/** CPU time of this process, which runs only DuckDB. */
async function ownCpu(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function lesser(a: Took, b: Took): Took {
  return { seconds: Math.min(a.seconds, b.seconds), cpu: Math.min(a.cpu, b.cpu) };
}

function tell(what: string, own: Took, other: Took | null): void {
  const [seconds, cpu] = [own.seconds.toFixed(2), own.cpu.toFixed(2)];
  if (other === null) console.log(`${what}: ${seconds} s, CPU ${cpu} s`);
  else {
    const ratios = `${(own.seconds / other.seconds).toFixed(2)}, CPU ${(own.cpu / other.cpu).toFixed(2)}`;
    console.log(
      `${what}: ${seconds} s (CPU ${cpu}), DuckDB ${other.seconds.toFixed(2)} s (CPU ${other.cpu.toFixed(2)}), ratio ${ratios}`,
    );
  }
}
