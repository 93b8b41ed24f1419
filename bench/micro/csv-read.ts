/**
 * Converting the texts of a CSV file without loss, compared with the kernel's own typed reading, on one thread in one
 * process: `npx tsx bench/micro/csv-read.ts [rows]`. User and system time, best of several alternating runs, as a ratio
 * to the kernel's; `casts` are plain casts of the same texts without any checks. Not a measurement of jobs: nothing
 * runs in parallel.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { castSql, valueSql } from "../../src/dataset/sources/csv-types.ts";
import { Kernel } from "../../src/kernel/index.ts";

const ROWS = Number(process.argv[2] ?? 200_000);
const RUNS = 15;
const FORMATS = { dateFormat: null, timestampFormat: null, decimal: null };
const COLUMNS = [
  { type: "BIGINT", made: "i" },
  { type: "BIGINT", made: "(hash(i) % 1000000)::BIGINT" },
  { type: "DOUBLE", made: "round((hash(i + 1) % 100000) / 100.0, 2)" },
  { type: "DATE", made: "DATE '2020-01-01' + (i % 1000)::INT" },
  { type: "TIMESTAMP", made: "TIMESTAMP '2020-01-01' + INTERVAL 1 SECOND * i" },
  { type: "VARCHAR", made: "'name ' || (hash(i) % 5000)" },
  { type: "VARCHAR", made: "'a longer text of some words ' || i" },
].map((column, i) => ({ ...column, name: `c${i}`, declared: false }));

const directory = mkdtempSync(join(tmpdir(), "spillway-csv-read-"));
const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
try {
  const file = join(directory, "rows.csv");
  const made = COLUMNS.map(({ made: sql, name }) => `${sql} AS ${name}`).join(", ");
  connection.execute(`COPY (SELECT ${made} FROM range(${ROWS}) t(i)) TO '${file}' (HEADER)`);
  const reading = (typeOf: (type: string) => string) => {
    const types = COLUMNS.map(({ name, type }) => `'${name}': '${typeOf(type)}'`).join(", ");
    return `read_csv('${file}', auto_detect=false, header=true, delim=',', quote='"', escape='"', columns={${types}})`;
  };
  const texts = reading(() => "VARCHAR");
  const casts = COLUMNS.map((column) => castSql(column.name, column, FORMATS) ?? column.name);
  const misfit = { operator: "readCsv", column: "", index: 0, type: "", declared: false, dialect: null };
  const values = COLUMNS.map((column, i) => {
    const cast = column.type === "VARCHAR" ? null : `v${i}`;
    return `${valueSql(column.name, column, FORMATS, misfit, `'${file}'`, cast)} AS ${column.name}`;
  });
  const cases = {
    kernel: reading((type) => type),
    casts: `(SELECT ${casts.map((cast, i) => `${cast} AS c${i}`).join(", ")} FROM ${texts})`,
    exact: `(SELECT ${values.join(", ")} FROM (SELECT *, ${casts.map((cast, i) => `${cast} AS v${i}`).join(", ")} FROM ${texts}))`,
  };
  const items = COLUMNS.map(({ name, type }) => (type === "VARCHAR" ? `sum(strlen(${name}))` : `max(${name})`)).join(
    ", ",
  );
  const best = new Map<string, number>();
  for (let run = 0; run < RUNS; run++) {
    for (const [name, table] of Object.entries(cases)) {
      const before = process.cpuUsage();
      connection.all(`SELECT ${items} FROM ${table}`);
      const { user, system } = process.cpuUsage(before);
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, (user + system) / 1000));
    }
  }
  const own = best.get("kernel") ?? 1;
  for (const [name, ms] of best)
    console.log(`${name.padEnd(8)} ${ms.toFixed(0).padStart(6)} ms  ${(ms / own).toFixed(2)}`);
} finally {
  connection.close();
  kernel.close();
  rmSync(directory, { recursive: true });
}
