/** A random chain of operators, with the reference's rows after each. */
import type { Dataset } from "spillway";
import type { ValueOptions } from "../../../src/arrow/index.ts";
import type { Reference } from "./reference.ts";
import type { Any, Choice, Declared, Maker, Shape, Step } from "./step.ts";

/** Rows that the reference holds. */
export interface Held extends Shape {
  readonly table: string;
}

export interface Chain extends Held {
  readonly steps: readonly Step[];
}

export interface Surroundings {
  readonly reference: Reference;
  /** Lists of operators: one of the lists is drawn first, so that short ones are as frequent as long ones. */
  readonly makers: readonly (readonly Maker[])[];
  readonly values: ValueOptions;
}

export function chainOf(
  first: Held,
  other: Held,
  length: number,
  choice: Choice,
  { reference, makers, values }: Surroundings,
): Chain {
  let chain: Chain = { ...first, steps: [] };
  for (let i = 0; i < length; i++) {
    const { table: before } = chain;
    const declared: Declared = (names) =>
      values.timestamp === "bigint" ? { schema: reference.types(before, names) } : {};
    const step = choice.of(choice.of(makers))(chain, choice, other, values, declared);
    if (step === null) continue;
    const table = reference.asked(step.sql(chain.table, other.table));
    if (table === null) continue;
    // A function that gives no rows has no columns, which rows of the other side would show as nulls.
    if (!chain.known && reference.isEmpty(before) && !reference.isEmpty(table)) continue;
    chain = { ...step, table, steps: [...chain.steps, step] };
  }
  return chain;
}

export function applied({ steps }: Chain, first: Dataset<Any>, other: Dataset<Any>): Dataset<Any> {
  return steps.reduce((made, step) => step.apply(made, other), first);
}
