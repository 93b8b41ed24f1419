/**
 * `npm run hunt`: random cases against other engines, until the time is over. Prints what differs, with the seed that
 * gives it again; exits with 1 where anything did. CONTRIBUTING.md says how to read it.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { peersPython } from "./install.ts";
import { KINDS } from "./kinds.ts";
import type { Report, Round } from "./round.ts";
import { ROUND, roundOf, zoneOf } from "./rounds.ts";

const USAGE = `npm run hunt -- [options]
  --seed N       one case again
  --seconds N    how long to look (default 60)
  --seeds N      how many cases at most
  --from N       the first seed (default: by the clock, and printed)
  --only KIND    ${Object.keys(KINDS).join(", ")} (several: with commas)
  --jobs N       processes at once (default: the cores)
  --no-python    without pyarrow and Polars`;

const PROGRAM = fileURLToPath(new URL("round.ts", import.meta.url));

interface Hunt {
  readonly from: number;
  readonly seeds: number;
  readonly until: number;
  readonly kinds: readonly string[];
  readonly python: string | null;
}

/** What a round found; it is ended where time is over. */
function play(round: number, hunt: Hunt, report: (report: Report) => void): Promise<void> {
  const first = Math.max(hunt.from, round * ROUND);
  const last = Math.min(hunt.from + hunt.seeds, (round + 1) * ROUND);
  const seeds = Array.from({ length: last - first }, (_, i) => first + i);
  const given: Round = { seeds, kinds: hunt.kinds, python: hunt.python, until: hunt.until };
  const child = fork(PROGRAM, [JSON.stringify(given)], { env: { ...process.env, TZ: zoneOf(round) } });
  child.on("message", report);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the round of seeds ${first} to ${last - 1} ended with ${code ?? signal}`));
    });
  });
}

async function runAll(hunt: Hunt, jobs: number): Promise<number> {
  const begun = performance.now();
  const counts = new Map<string, number>();
  let wrong = 0;
  let next = roundOf(hunt.from);
  const lastRound = roundOf(hunt.from + hunt.seeds - 1);
  const heard = (report: Report) => {
    counts.set(report.kind, (counts.get(report.kind) ?? 0) + 1);
    if (report.wrong === null) return;
    wrong += 1;
    const again = `npm run hunt -- --seed ${report.seed}`;
    process.stdout.write(
      `\n--- ${report.kind}, TZ=${zoneOf(roundOf(report.seed))}, again: ${again}\n${report.wrong}\n`,
    );
  };
  const work = async () => {
    while (next <= lastRound && Date.now() < hunt.until) await play(next++, hunt, heard);
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const told = [...counts].map(([kind, n]) => `${n} ${kind}`).join(", ");
  process.stdout.write(`\nSeeds from ${hunt.from}: ${told || "no case"} in ${seconds} s; ${wrong} differ.\n`);
  return wrong;
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is ${text}; it must be a whole number.`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      seconds: { type: "string", default: "60" },
      seeds: { type: "string", default: "1000000" },
      from: { type: "string", default: String(Math.floor(Date.now() / 1000) * ROUND) },
      only: { type: "string", default: Object.keys(KINDS).join(",") },
      jobs: { type: "string", default: String(availableParallelism()) },
      "no-python": { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  const kinds = values.only.split(",");
  const unknown = kinds.find((kind) => !(kind in KINDS));
  if (values.help === true || unknown !== undefined) {
    process.stdout.write(`${USAGE}\n`);
    return values.help === true ? 0 : 2;
  }
  const python = values["no-python"] ? null : await peersPython((line) => process.stderr.write(`${line}\n`));
  const one = values.seed !== undefined;
  const from = numberOf("from", values.seed ?? values.from);
  const seconds = one ? 3600 : numberOf("seconds", values.seconds);
  process.stdout.write(`Seeds from ${from}${python === null ? ", without Python" : ""}.\n`);
  const hunt: Hunt = {
    from,
    seeds: one ? 1 : numberOf("seeds", values.seeds),
    until: Date.now() + seconds * 1000,
    kinds: one ? Object.keys(KINDS) : kinds,
    python,
  };
  return (await runAll(hunt, one ? 1 : numberOf("jobs", values.jobs))) > 0 ? 1 : 0;
}

process.exitCode = await main();
