/**
 * Arithmetic, comparison, logic and mathematics on expressions. As in SQL, null in gives null out. `divide` is float
 * division.
 */
import { OptionError } from "../../errors/index.ts";
import { call, callOf, cast, checkTypeName, conjunction, type Expression } from "../../plan/index.ts";
import { describe } from "../options.ts";
import { ExprCore, type Operand, type RefsOf, toExpression, type Unnamed } from "./core.ts";
import type { Expr } from "./expr.ts";

function listed(values: unknown): Iterable<unknown> {
  if (isList(values)) return values;
  throw new OptionError(`in and notIn take a list of values, such as [1, 2], not ${describe(values)}.`);
}

/** A text has an iterator, too, but is never meant as a list of its characters. */
function isList(values: unknown): values is Iterable<unknown> {
  return typeof values === "object" && values !== null && Symbol.iterator in values;
}

type Result<T, Refs extends string, O = never> = Expr<T, Refs | RefsOf<O>, Unnamed>;

export abstract class OperatorMethods<T, Refs extends string, Name extends string | Unnamed> extends ExprCore<
  T,
  Refs,
  Name
> {
  add<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("add", other);
  }
  subtract<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("subtract", other);
  }
  /** The same as `subtract`. */
  sub<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.subtract(other);
  }
  multiply<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("multiply", other);
  }
  /** The same as `multiply`. */
  mul<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.multiply(other);
  }
  /** Float division: `lit(1).divide(2)` is 0.5, `lit(1).divide(0)` is Infinity, as in JavaScript. */
  divide<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("divide", other);
  }
  /** The same as `divide`. */
  div<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.divide(other);
  }
  /** Division that drops the fraction, towards zero. Division by zero gives null. */
  integerDivide<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("integerDivide", other);
  }
  modulo<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("modulo", other);
  }
  /** The same as `modulo`. */
  mod<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.modulo(other);
  }
  power<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("power", other);
  }
  /** The same as `power`. */
  pow<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.power(other);
  }
  negate(): Result<number, Refs> {
    return this.call("negate");
  }
  /** The same as `negate`. */
  neg(): Result<number, Refs> {
    return this.negate();
  }

  /** Null if either side is null, which `where` treats as false. `isSame` compares nulls, too. */
  eq<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("eq", other);
  }
  ne<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("ne", other);
  }
  lt<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("lt", other);
  }
  le<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("le", other);
  }
  gt<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("gt", other);
  }
  ge<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("ge", other);
  }
  /** Equality in which null equals null. */
  isSame<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("isSame", other);
  }
  /** Both bounds included. */
  between<A extends Operand, B extends Operand>(low: A, high: B): Result<boolean, Refs, A | B> {
    if (low === undefined || high === undefined) {
      throw new OptionError("between takes two bounds, the lowest and the highest value: between(1, 5).");
    }
    const within = [call("ge", this.expression, toExpression(low)), call("le", this.expression, toExpression(high))];
    return this.derive(conjunction(within));
  }
  in(values: Iterable<Operand>): Result<boolean, Refs> {
    return this.derive(this.#in(values));
  }
  notIn(values: Iterable<Operand>): Result<boolean, Refs> {
    return this.derive(call("not", this.#in(values)));
  }
  /** Takes one iterable: the values may be more than a function can have arguments. */
  #in(values: Iterable<Operand>): Expression {
    return callOf("in", [this.expression, ...Array.from(listed(values), toExpression)]);
  }
  isNull(): Result<boolean, Refs> {
    return this.call("isNull");
  }
  isNotNull(): Result<boolean, Refs> {
    return this.call("isNotNull");
  }
  isNan(): Result<boolean, Refs> {
    return this.call("isNan");
  }

  and<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("and", other);
  }
  or<O extends Operand>(other: O): Result<boolean, Refs, O> {
    return this.call("or", other);
  }
  not(): Result<boolean, Refs> {
    return this.call("not");
  }

  /**
   * Converts to a type of SQL: "BIGINT", "DOUBLE", "VARCHAR", "DATE", "DECIMAL(12, 2)". A value that does not convert
   * is an error.
   */
  cast<V = unknown>(type: string): Result<V, Refs> {
    return this.derive(this.#cast(type, false));
  }
  /** Like `cast`, but null if a value does not convert. */
  tryCast<V = unknown>(type: string): Result<V | null, Refs> {
    return this.derive(this.#cast(type, true));
  }
  #cast(type: string, lenient: boolean): Expression {
    return cast(this.expression, checkTypeName(type, "cast"), lenient);
  }
  /** The first value that is not null: this one, then the others in order. */
  coalesce<const O extends readonly Operand[]>(...others: O): Result<unknown, Refs, O[number]> {
    return this.call("coalesce", ...others);
  }
  /** Null if this equals the other. */
  nullIf<O extends Operand>(other: O): Result<T | null, Refs, O> {
    return this.call("nullIf", other);
  }

  abs(): Result<number, Refs> {
    return this.call("abs");
  }
  sign(): Result<number, Refs> {
    return this.call("sign");
  }
  round(digits = 0): Result<number, Refs> {
    return this.call("round", digits);
  }
  floor(): Result<number, Refs> {
    return this.call("floor");
  }
  ceil(): Result<number, Refs> {
    return this.call("ceil");
  }
  trunc(): Result<number, Refs> {
    return this.call("trunc");
  }
  sqrt(): Result<number, Refs> {
    return this.call("sqrt");
  }
  cbrt(): Result<number, Refs> {
    return this.call("cbrt");
  }
  exp(): Result<number, Refs> {
    return this.call("exp");
  }
  ln(): Result<number, Refs> {
    return this.call("ln");
  }
  log2(): Result<number, Refs> {
    return this.call("log2");
  }
  log10(): Result<number, Refs> {
    return this.call("log10");
  }
  sin(): Result<number, Refs> {
    return this.call("sin");
  }
  cos(): Result<number, Refs> {
    return this.call("cos");
  }
  tan(): Result<number, Refs> {
    return this.call("tan");
  }
  atan2<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("atan2", other);
  }
  bitAnd<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("bitAnd", other);
  }
  bitOr<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("bitOr", other);
  }
  bitXor<O extends Operand>(other: O): Result<number, Refs, O> {
    return this.call("bitXor", other);
  }
}
