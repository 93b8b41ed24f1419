/**
 * Expressions as users write them: `col("price").multiply(1.2).as("gross")`. Immutable: each method returns a new one.
 * They become SQL with quoted names and values, and follow SQL's logic of nulls: a condition that is null is not true.
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

/** An aggregate. `where` restricts the rows that it looks at. */
export class AggregateExpr<T = unknown, Refs extends string = string> extends Expr<T, Refs, Unnamed> {
  readonly #aggregate: AggregateExpression;

  constructor(aggregate: AggregateExpression) {
    super(aggregate, null);
    this.#aggregate = aggregate;
  }

  /** Aggregates only rows for which the condition is true: `col("fare").sum().where(col("city").eq("Oslo"))`. */
  where<C extends Operand>(condition: C): AggregateExpr<T, Refs | RefsOf<C>> {
    const { where: before } = this.#aggregate;
    const added = toExpression(condition);
    const where = before === null ? added : call("and", before, added);
    return new AggregateExpr({ ...this.#aggregate, where });
  }

  /**
   * For each row, the aggregate of the rows around it: all rows of its partition, those up to it in an order, or those
   * of a frame. `col("fare").sum().over({ partitionBy: "city", orderBy: "at" })` is a running total.
   */
  over<const P extends WindowKey = never, const O extends WindowKey = never>(
    options: OverOptions<P, O> = {},
  ): Windowed<T, Refs, P, O> {
    return this.derive(windowOver(this.#aggregate, options));
  }
}

/** A function that only has a meaning in a window. It becomes an expression by `over`, which says in which window. */
export class WindowFunction<out T = unknown, out Refs extends string = string, F extends WindowFrame = never> {
  readonly #call: WindowCall;

  /** @internal Made by `rowNumber`, `lag` and the like. */
  constructor(call: WindowCall) {
    this.#call = call;
  }

  /** Computes the function over the rows of the partition, in an order. */
  over<const P extends WindowKey = never, const O extends WindowKey = never>(
    options: OrderedOverOptions<P, O, F>,
  ): Windowed<T, Refs, P, O> {
    return new Expr(windowOver(this.#call, options), null);
  }

  /** @internal Its name in messages, if an expression was expected. */
  get [SHOWN](): string {
    return `${this.#call.name}() without .over({ orderBy })`;
  }
}

/** 1, 2, 3, … in the order of the window. The order among rows with equal keys is undefined. */
export function rowNumber(): WindowFunction<number, never> {
  return new WindowFunction(windowCall("rowNumber"));
}

/** One more than the number of rows before it. Rows with equal keys share a rank and leave a gap: 1, 2, 2, 4. */
export function rank(): WindowFunction<number, never> {
  return new WindowFunction(windowCall("rank"));
}

/** Like `rank`, without gaps: 1, 2, 2, 3. */
export function denseRank(): WindowFunction<number, never> {
  return new WindowFunction(windowCall("denseRank"));
}

/** Divides the rows into this many parts, as equal as possible, and numbers the parts from 1. */
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

/**
 * The SQL type of a literal follows from its JavaScript type: an integral number is an integer, any other number a
 * DOUBLE.
 */
export function lit<V extends Literal>(value: V): Expr<V, never, Unnamed> {
  return new Expr(toExpression(value), null);
}

/**
 * SQL of the kernel (DuckDB), used as it is, for anything that no function here covers. Never put values from elsewhere
 * into the text; combine it with `lit` and `col` instead.
 */
export function sql<V = unknown>(text: string): Expr<V, never, Unnamed> {
  if (typeof text !== "string" || text.trim() === "") throw new OptionError("sql: the text is empty.");
  return new Expr(raw(checkText(text, "sql")), null);
}

/** The first operand that is not null. */
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

/** `when(condition).then(value).when(…).then(…).otherwise(value)`; without `otherwise`, the remaining rows get null. */
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
