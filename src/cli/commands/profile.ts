/** `spillway profile`: a heap profile of a worker of a running session. */
import { type Command, InvalidArgumentError } from "commander";
import { OptionError } from "../../errors/index.ts";
import { flamegraph } from "../../profile/index.ts";
import { findSession, type KnownSession, openSession, profileWorker } from "../../sessions/index.ts";
import { wholeNumber } from "../numbers.ts";
import { sessionArgument } from "../session-state.ts";
import { printable, say } from "../terminal.ts";

const EXAMPLES = `
The file opens in DevTools (Memory, Load) and at https://www.speedscope.app.

Examples:
  spillway profile --worker 1 --seconds 10
  spillway profile latest --worker 1 --flamegraph    also draws it
`;

const SECONDS = 10;

interface Options {
  readonly worker: number;
  readonly seconds: number;
  readonly flamegraph?: true;
}

export function define(command: Command): void {
  sessionArgument(command)
    .requiredOption("--worker <n>", "which worker: spillway memory lists them", wholeNumber(0))
    .option("--seconds <n>", "how long", seconds, SECONDS)
    .option("--flamegraph", "also draw it: one HTML file")
    .addHelpText("after", EXAMPLES)
    .action((wanted: string | undefined, options: Options) => profile(findSession(wanted), options));
}

async function profile(known: KnownSession, { worker, seconds, flamegraph: draws }: Options): Promise<void> {
  if (known.status !== "running") {
    throw new OptionError(
      `profile: session ${known.name} runs no more. Profiles that it has left are in ${known.directory}/profiles.`,
    );
  }
  await checkWorker(known, worker);
  const path = await profileWorker(known, worker, seconds);
  say(printable(path));
  if (draws) say(printable(flamegraph(path)));
  else say(`Draw it: spillway flamegraph ${printable(path)}`);
}

async function checkWorker(known: KnownSession, worker: number): Promise<void> {
  const opened = await openSession(known);
  opened.close();
  const there = [...opened.state.workers.values()].map(({ id }) => Number(id));
  if (there.includes(worker)) return;
  const which = there.length === 0 ? "It has none now." : `It has ${there.join(", ")}.`;
  throw new OptionError(`profile: session ${known.name} has no worker ${worker}. ${which}`);
}

function seconds(text: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError("It must be a number above 0.");
}
