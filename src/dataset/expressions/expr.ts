/**
 * Expressions as users write them: `col("price").multiply(1.2).as("gross")`. Immutable; each method gives a new one.
 * They become SQL with names and values quoted, and follow SQL's logic of nulls: a condition that is null is not true.
 */
import { OptionError } from "../../errors/index.ts";
import {
  type AggregateExpression,
  type AggregateName,
  aggregateOf,
  call,
  cases,
  checkText,
  column,
  type Expression,
  type Literal,
  literal,
  raw,
  type WindowCall,
  type WindowCallName,
  windowCall,
} from "../../plan/index.ts";
import { positiveInteger, SHOWN } from "../options.ts";
import { type ColumnValue, type Operand, type RefsOf, toExpression, type Unnamed } from "./core.ts";
import type { WindowFrame } from "./frame.ts";
import { type OrderedOverOptions, type OverOptions, type Windowed, type WindowKey, windowOver } from "./over.ts";
import { WindowMethods } from "./windows.ts";

export class Expr<
  T = unknown,
  Refs extends string = string,
  Name extends string | Unnamed = string,
> extends WindowMethods<T, Refs, Name> {
  /** Names the result column. */
  as<N extends string>(name: N): Expr<T, Refs, N> {
    if (typeof name !== "string" || name === "") throw new OptionError("as: a column name must be a non-empty text.");
    checkText(name, "as");
    return new Expr(this.expression, name);
  }

  protected override derive<V, R extends string>(expression: Expression): Expr<V, R, Unnamed> {
    return new Expr(expression, null);
  }

  protected override aggregated<V>(name: AggregateName, fraction?: number): AggregateExpr<V, Refs> {
    return new AggregateExpr(aggregateOf(name, this.expression, { fraction }));
  }

  protected override windowed<V, R extends string, F extends WindowFrame>(
    name: WindowCallName,
    args: readonly Expression[],
  ): WindowFunction<V, R, F> {
    return new WindowFunction(windowCall(name, ...args));
  }
}

/** An aggregate, which can be told to look at some of the rows only. */
export class AggregateExpr<T = unknown, Refs extends string = string> extends Expr<T, Refs, Unnamed> {
  readonly #aggregate: AggregateExpression;

  constructor(aggregate: AggregateExpression) {
    super(aggregate, null);
    this.#aggregate = aggregate;
  }

  /** Only of the rows for which the condition is true: `col("fare").sum().where(col("city").eq("Oslo"))`. */
  where<C extends Operand>(condition: C): AggregateExpr<T, Refs | RefsOf<C>> {
    const { where: before } = this.#aggregate;
    const added = toExpression(condition);
    const where = before === null ? added : call("and", before, added);
    return new AggregateExpr({ ...this.#aggregate, where });
  }

  /**
   * For each row the aggregate of the rows around it: of its partition, in an order up to it, or of a frame.
   * `col("fare").sum().over({ partitionBy: "city", orderBy: "at" })` is a running total.
   */
  over<const P extends WindowKey = never, const O extends WindowKey = never>(
    options: OverOptions<P, O> = {},
  ): Windowed<T, Refs, P, O> {
    return this.derive(windowOver(this.#aggregate, options));
  }
}

/** A function that has a meaning in a window alone, and is no expression before `over` says in which. */
export class WindowFunction<out T = unknown, out Refs extends string = string, F extends WindowFrame = never> {
  readonly #call: WindowCall;

  /** @internal Made by `rowNumber`, `lag` and the like. */
  constructor(call: WindowCall) {
    this.#call = call;
  }

  /** Over the rows of the partition, in an order. */
  over<const P extends WindowKey = never, const O extends WindowKey = never>(
    options: OrderedOverOptions<P, O, F>,
  ): Windowed<T, Refs, P, O> {
    return new Expr(windowOver(this.#call, options), null);
  }

  /** @internal What messages call it where an expression is wanted. */
  get [SHOWN](): string {
    return `${this.#call.name}() without .over({ orderBy })`;
  }
}

/** 1, 2, 3, … in the order of the window; among rows of equal keys which one is the first is not said. */
export function rowNumber(): WindowFunction<number, never> {
  return new WindowFunction(windowCall("rowNumber"));
}

/** One more than the rows before it; rows of equal keys have the same, and leave a gap: 1, 2, 2, 4. */
export function rank(): WindowFunction<number, never> {
  return new WindowFunction(windowCall("rank"));
}

/** As `rank`, without gaps: 1, 2, 2, 3. */
export function denseRank(): WindowFunction<number, never> {
  return new WindowFunction(windowCall("denseRank"));
}

/** The rows in so many parts, as equal as can be: 1 for those of the first, 2 of the second, … */
export function ntile(parts: number): WindowFunction<number, never> {
  return new WindowFunction(windowCall("ntile", literal(positiveInteger("ntile", "the number of parts", parts))));
}

/** The number of rows. */
export function count(): AggregateExpr<number, never> {
  return new AggregateExpr(aggregateOf("count", null));
}

/** A column by name. */
export function col<N extends string>(name: N): Expr<ColumnValue<N>, N, N> {
  if (typeof name !== "string" || name === "") throw new OptionError("col: a column name must be a non-empty text.");
  return new Expr(column(checkText(name, "col")), name);
}

/** The SQL type of a literal follows from its JavaScript type: an integral number is an integer, any other a DOUBLE. */
export function lit<V extends Literal>(value: V): Expr<V, never, Unnamed> {
  return new Expr(toExpression(value), null);
}

/**
 * SQL of the kernel's own (DuckDB), as it stands: for what no function here says. Never put values into it that come
 * from elsewhere; combine it with `lit` and `col` instead.
 */
export function sql<V = unknown>(text: string): Expr<V, never, Unnamed> {
  if (typeof text !== "string" || text.trim() === "") throw new OptionError("sql: the text is empty.");
  return new Expr(raw(checkText(text, "sql")), null);
}

/** The first of the operands that is not null. */
export function coalesce<const O extends readonly Operand[]>(
  ...operands: O
): Expr<unknown, RefsOf<O[number]>, Unnamed> {
  return of("coalesce", operands);
}

export function concat<const O extends readonly Operand[]>(...operands: O): Expr<string, RefsOf<O[number]>, Unnamed> {
  return of("concat", operands);
}

export function greatest<const O extends readonly Operand[]>(
  ...operands: O
): Expr<unknown, RefsOf<O[number]>, Unnamed> {
  return of("greatest", operands);
}

export function least<const O extends readonly Operand[]>(...operands: O): Expr<unknown, RefsOf<O[number]>, Unnamed> {
  return of("least", operands);
}

function of<V, R extends string>(
  name: "coalesce" | "concat" | "greatest" | "least",
  operands: readonly Operand[],
): Expr<V, R, Unnamed> {
  if (operands.length === 0) throw new OptionError(`${name}: give at least one operand.`);
  return new Expr(call(name, ...operands.map(toExpression)), null);
}

/** `when(condition).then(value).when(…).then(…).otherwise(value)`; without `otherwise` the rest is null. */
export function when<C extends Operand>(condition: C): When<never, RefsOf<C>> {
  return new When([], toExpression(condition));
}

type Branch = { readonly when: Expression; readonly value: Expression };

class When<T, Refs extends string> {
  constructor(
    private readonly branches: readonly Branch[],
    private readonly condition: Expression,
  ) {}

  // biome-ignore lint/suspicious/noThenProperty: the name is SQL's own; the object is finished before anyone awaits it.
  then<V extends Operand>(value: V): Cases<T | ValueOf<V>, Refs | RefsOf<V>> {
    return new Cases([...this.branches, { when: this.condition, value: toExpression(value) }]);
  }
}

type ValueOf<O> = O extends Expr<infer V, string, string | Unnamed> ? V : O;

class Cases<T, Refs extends string> extends Expr<T | null, Refs, Unnamed> {
  readonly #branches: readonly Branch[];

  constructor(branches: readonly Branch[]) {
    super(cases(branches, literal(null)), null);
    this.#branches = branches;
  }

  when<C extends Operand>(condition: C): When<T, Refs | RefsOf<C>> {
    return new When(this.#branches, toExpression(condition));
  }

  otherwise<V extends Operand>(value: V): Expr<T | ValueOf<V>, Refs | RefsOf<V>, Unnamed> {
    return new Expr(cases(this.#branches, toExpression(value)), null);
  }
}
