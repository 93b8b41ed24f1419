/** Values of other rows, by the order of a window: the previous one, the next one, the last one. */
import { OptionError } from "../../errors/index.ts";
import { type Expression, literal, type WindowCallName } from "../../plan/index.ts";
import { describe } from "../options.ts";
import { AggregateMethods } from "./aggregates.ts";
import { type Operand, type RefsOf, toExpression, type Unnamed } from "./core.ts";
import type { Expr, WindowFunction } from "./expr.ts";
import type { WindowFrame } from "./frame.ts";

type ValueOf<O> = O extends Expr<infer V, string, string | Unnamed> ? V : O;

export abstract class WindowMethods<T, Refs extends string, Name extends string | Unnamed> extends AggregateMethods<
  T,
  Refs,
  Name
> {
  protected abstract windowed<V, R extends string, F extends WindowFrame>(
    name: WindowCallName,
    args: readonly Expression[],
  ): WindowFunction<V, R, F>;

  /** The value this many rows earlier, or `otherwise` (default null) if there is no such row. */
  lag<const D extends Operand = null>(rows = 1, otherwise?: D): WindowFunction<T | ValueOf<D>, Refs | RefsOf<D>> {
    return this.windowed("lag", this.#beside("lag", rows, otherwise));
  }
  /** The value this many rows later, or `otherwise` (default null) if there is no such row. */
  lead<const D extends Operand = null>(rows = 1, otherwise?: D): WindowFunction<T | ValueOf<D>, Refs | RefsOf<D>> {
    return this.windowed("lead", this.#beside("lead", rows, otherwise));
  }
  /** The value of the last row of the partition, or of the frame, null or not. */
  last(): WindowFunction<T, Refs, WindowFrame> {
    return this.windowed("last", [this.expression]);
  }

  #beside(name: string, rows: unknown, otherwise: unknown): readonly Expression[] {
    if (typeof rows !== "number" || !Number.isSafeInteger(rows) || rows < 0) {
      throw new OptionError(`${name}: the number of rows is ${describe(rows)}; it must be a whole number, 0 or above.`);
    }
    const args = [this.expression, literal(rows)];
    return otherwise === undefined || otherwise === null ? args : [...args, toExpression(otherwise)];
  }
}
