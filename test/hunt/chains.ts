/** Chains of operators, with functions in between, over hostile rows: what the kernel's SQL gives is right. */
import fc from "fast-check";
import { EXACT } from "../arrow/random-columns.ts";
import { applied, chainOf, type Held } from "../end-to-end/differential/chain.ts";
import { DRAWN_ENDINGS, ENDINGS } from "../end-to-end/differential/endings.ts";
import { RELATIONAL_OPERATORS } from "../end-to-end/differential/relational-operators.ts";
import { ROW_OPERATORS } from "../end-to-end/differential/row-operators.ts";
import { Choice } from "../end-to-end/differential/step.ts";
import { CONDITIONS } from "./conditions.ts";
import { Difference } from "./difference.ts";
import { FUNCTIONS } from "./functions.ts";
import { entered, SOURCES } from "./sources.ts";
import { type HostileTable, hostileTables } from "./tables.ts";
import { WINDOWS } from "./windows.ts";
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

export async function playChain(world: World, [left, right, drawn, length, sources, size]: Drawn): Promise<void> {
  const { reference } = world;
  const choice = new Choice(drawn);
  const first = await entered(world, left, sources[0], choice);
  const second = await entered(world, right, sources[1], choice);
  const held = ({ columns }: HostileTable, table: string): Held => ({ table, columns, order: "total", known: true });
  const chain = chainOf(held(left, first.table), held(right, second.table), length, choice, {
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
    } catch (error) {
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
