/** Chains of operators, with functions in between, over hostile rows: what the kernel's SQL gives is right. */
import fc from "fast-check";
import { OptionError, WriteError } from "spillway";
import { EXACT } from "../arrow/random-columns.ts";
import { applied, chainOf, type Held } from "../end-to-end/differential/chain.ts";
import { DRAWN_ENDINGS, ENDINGS } from "../end-to-end/differential/endings.ts";
import { RELATIONAL_OPERATORS } from "../end-to-end/differential/relational-operators.ts";
import { ROW_OPERATORS } from "../end-to-end/differential/row-operators.ts";
import { Choice } from "../end-to-end/differential/step.ts";
import { WINDOWS } from "../end-to-end/differential/windows.ts";
import { CONDITIONS } from "./conditions.ts";
import { Difference } from "./difference.ts";
import { FUNCTIONS } from "./functions.ts";
import { refusesOtherCase } from "./other-case.ts";
import { type Entered, entered, SOURCES } from "./sources.ts";
import { type HostileTable, hostileTables } from "./tables.ts";
import { SIZES, type Size, type World } from "./world.ts";

const MAKERS = [ROW_OPERATORS, RELATIONAL_OPERATORS, RELATIONAL_OPERATORS, FUNCTIONS, CONDITIONS, WINDOWS];
const numbers = fc.array(fc.nat({ max: 100_000 }), { minLength: 40, maxLength: 40 });
const source = fc.constantFrom(...SOURCES);
const size = fc.constantFrom(...(Object.keys(SIZES) as Size[]));

export const chains = fc.tuple(
  hostileTables(40),
  hostileTables(15, 3),
  numbers,
  fc.integer({ min: 0, max: 6 }),
  fc.tuple(source, source),
  size,
);

type Drawn = [HostileTable, HostileTable, number[], number, [string, string], Size];

/** Documented: values of two nested types are never equal, those of a FLOAT that functions made only after rounding. */
const REFUSED_KEYS =
  /^join: the key .*(STRUCT|MAP|BLOB|UUID|\[2?\]).* which are never equal|^join: the key .* FLOAT .* equal only after rounding/s;

/** Documented: Parquet has none. */
const NEGATIVE_INTERVAL = /^writeParquet: .* has a negative interval, which Parquet cannot store/s;

export async function playChain(world: World, [left, right, drawn, length, sources, size]: Drawn): Promise<void> {
  const { reference } = world;
  const choice = new Choice(drawn);
  const first = await entered(world, left, sources[0], choice);
  const second = await entered(world, right, sources[1], choice);
  const held = ({ columns, table }: Entered): Held => ({ table, columns, order: "total", known: true });
  const chain = chainOf(held(first), held(second), length, choice, {
    reference,
    makers: MAKERS,
    values: EXACT,
  });
  const ending = choice.of(DRAWN_ENDINGS);
  for (const exchange of [false, true]) {
    const session = world.session(size, exchange);
    const told = [first.told, ...chain.steps.map(({ name }) => name), ending];
    try {
      const ds = applied(chain, first.open(session), second.open(session));
      await ENDINGS[ending]({ ds, chain, choice: new Choice(drawn), reference, values: EXACT, out: world.path("out") });
      await refusesOtherCase({ ds, chain, choice: new Choice(drawn), reference });
    } catch (error) {
      if (error instanceof OptionError && REFUSED_KEYS.test(error.message)) continue;
      if (ending === "writeParquet" && error instanceof WriteError && NEGATIVE_INTERVAL.test(error.message)) continue;
      throw new Difference(
        {
          session: `${size} store, exchange ${exchange}`,
          plan: told.join("\n  -> "),
          rows: left.sql,
          ...(chain.steps.some(({ name }) => name.startsWith("join")) ? { other: `${second.told}: ${right.sql}` } : {}),
        },
        error,
      );
    }
  }
}
