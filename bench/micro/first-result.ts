/**
 * The first result of a fresh program, with `dashboard: true` and `dashboard: false`: the wall time from the start of
 * Node to the first row, in pairs of programs in alternating order, and the median ratio with its 95 % interval.
 * `npm run build && npx tsx bench/micro/first-result.ts [pairs]`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { comparisonOf, type Pair } from "../compare/statistics.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pairs = Number(process.argv[2] ?? 30);
if (!(pairs >= 1)) throw new Error("1 pair or more is needed.");

/** Prints when it has its first row, and ends its session after that. */
const PROGRAM = `
import { session } from "spillway";
const s = session({ workers: 2, progress: false, dashboard: process.argv[1] === "true" });
const [row] = await s.range(1).map((row) => ({ id: row.id + 1 })).takeAll();
console.log(row.id);
await s.close();
`;

/** Seconds until the first row. */
async function measured(dashboard: boolean): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM, String(dashboard)], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [row] = await Promise.race([once(child.stdout, "data"), ended]);
  const seconds = (performance.now() - started) / 1000;
  if (String(row) !== "1\n") throw new Error(`The first row was ${row}.`);
  const [code] = await ended;
  if (code !== 0) throw new Error(`The program ended with code ${code}.`);
  return seconds;
}

const all: Pair[] = [];
// The first pair is the warm-up.
for (let number = 0; number <= pairs; number++) {
  const isTurned = number % 2 === 1;
  const first = await measured(isTurned);
  const second = await measured(!isTurned);
  if (number > 0) all.push(isTurned ? { base: second, current: first } : { base: first, current: second });
}
const { base, current, median, interval } = comparisonOf(all);
const range = `${interval.low.toFixed(3)} … ${interval.high.toFixed(3)}, ${(interval.coverage * 100).toFixed(1)} %`;
const ms = (seconds: number) => `${Math.round(seconds * 1000)} ms`;
console.log(`with a dashboard ${ms(current)}, without ${ms(base)}, ratio ${median.toFixed(3)} (${range})`);
