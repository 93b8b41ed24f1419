/**
 * `npm run simulate`: sessions without end from seeds, on every core. Prints how fast it goes and each failure with its
 * story; exits with 1 where there was any. CONTRIBUTING.md says how to read a story.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bytesPerBlock, decisionsPerSecond } from "./big.ts";
import { type Failure, failureOf, told } from "./failure.ts";
import { isKindName, KINDS, type KindName } from "./kinds.ts";
import { STORES, type StoreSize } from "./session.ts";

const USAGE = `npm run simulate -- [options]
  --seeds N      sessions to run, spread over all kinds and stores (default 10000)
  --from N       the first seed (default 1)
  --only KIND    ${Object.keys(KINDS).join(", ")}
  --store SIZE   ${Object.keys(STORES).join(", ")}
  --story SEED   one session (with --only and --store): what is wrong with it, made as small as it gets
  --big          one job of a million blocks, with ten workers and with ten thousand (--blocks N: another number)`;

/** Seeds that a process works through before it says so. */
const ROUND = 50;
/** More of the same teach nothing, and each story takes seconds. */
const MAX_STORIES = 5;

type Report = { readonly sessions: number } | { readonly failure: Failure; readonly story: string | null };

/** A part of the sessions: every `step`th, beginning with `first`. */
interface Part {
  readonly first: number;
  readonly step: number;
  readonly count: number;
  readonly from: number;
  readonly courses: readonly (readonly [KindName, StoreSize])[];
}

async function work({ first, step, count, from, courses }: Part, report: (report: Report) => void): Promise<void> {
  let stories = 0;
  let done = 0;
  for (let i = first; i < count; i += step) {
    const [kind, store] = courses[i % courses.length] ?? ["calm", "large"];
    const failure = failureOf(from + Math.floor(i / courses.length), kind, store);
    if (failure !== null) report({ failure, story: stories++ < MAX_STORIES ? told(failure) : null });
    if (++done % ROUND !== 0) continue;
    report({ sessions: ROUND });
    // Reports go out, and it is heard that nobody wants them any more.
    await setImmediate();
  }
  report({ sessions: done % ROUND });
}

function coursesOf(only: string | undefined, store: string | undefined): [KindName, StoreSize][] {
  const kinds = Object.keys(KINDS).filter(isKindName);
  const stores = (["large", "small", "tiny"] as const).filter((one) => store === undefined || one === store);
  return kinds
    .filter((one) => only === undefined || one === only)
    .flatMap((kind) => stores.map((one) => [kind, one] as [KindName, StoreSize]));
}

async function runAll(count: number, from: number, courses: Part["courses"]): Promise<number> {
  const begun = performance.now();
  let sessions = 0;
  let failures = 0;
  const show = () => {
    const rate = Math.round((sessions / (performance.now() - begun)) * 1000);
    process.stderr.write(`\r${sessions} of ${count} sessions, ${rate} a second, ${failures} failed `);
  };
  const timer = setInterval(show, 1000);
  const cores = Math.min(availableParallelism(), count);
  await Promise.all(
    Array.from({ length: cores }, (_, first) => {
      const part: Part = { first, step: cores, count, from, courses };
      const child = fork(fileURLToPath(import.meta.url), ["--part", JSON.stringify(part)]);
      child.on("message", (report: Report) => {
        if ("sessions" in report) sessions += report.sessions;
        else {
          failures += 1;
          const { seed, kind, store, message } = report.failure;
          process.stdout.write(`\n${report.story ?? `seed ${seed}, ${kind}, ${store}: ${message}`}\n`);
        }
      });
      return new Promise<void>((resolve, reject) => {
        child.on("error", reject);
        child.on("exit", (code, signal) => {
          if (code === 0) resolve();
          else reject(new Error(`a process of the simulator ended with ${code ?? signal}`));
        });
      });
    }),
  );
  clearInterval(timer);
  show();
  process.stderr.write("\n");
  return failures;
}

/** In this process alone: what is measured is one scheduler. */
function runBig(blocks: number): number {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error("--big needs node --expose-gc, which npm run simulate gives");
  for (const workers of [10, 10_000]) {
    const rate = decisionsPerSecond(workers, blocks);
    process.stdout.write(`${blocks} blocks, ${workers} workers: ${Math.round(rate)} decisions a second of CPU\n`);
  }
  for (const where of ["kept in memory", "kept on disk", "queued"] as const) {
    const bytes = bytesPerBlock(blocks, where, () => void collect());
    process.stdout.write(`${blocks} blocks ${where}: ${Math.round(bytes)} bytes of state a block\n`);
  }
  return 0;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "10000" },
      blocks: { type: "string", default: "1000000" },
      from: { type: "string", default: "1" },
      only: { type: "string" },
      store: { type: "string" },
      story: { type: "string" },
      big: { type: "boolean" },
      help: { type: "boolean" },
      part: { type: "string" },
    },
  });
  if (values.part !== undefined) {
    process.on("disconnect", () => process.exit());
    await work(JSON.parse(values.part), (report) => process.send?.(report));
    process.disconnect();
    return 0;
  }
  const courses = coursesOf(values.only, values.store);
  if (values.help === true || courses.length === 0) {
    process.stdout.write(`${USAGE}\n`);
    return values.help === true ? 0 : 2;
  }
  if (values.big === true) return runBig(Number(values.blocks));
  if (values.story !== undefined) {
    const seed = Number(values.story);
    const failures = courses.flatMap(([kind, store]) => failureOf(seed, kind, store) ?? []);
    for (const failure of failures) process.stdout.write(`${told(failure)}\n\n`);
    if (failures.length === 0) process.stdout.write(`seed ${seed}: nothing is wrong\n`);
    return failures.length > 0 ? 1 : 0;
  }
  return (await runAll(Number(values.seeds), Number(values.from), courses)) > 0 ? 1 : 0;
}

process.exitCode = await main();
