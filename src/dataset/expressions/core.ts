/**
 * The base of every expression: its tree, its name and its types. The types are the value it gives, the columns it
 * reads (so that a wrong name is a compile error if the row type is known) and the name of its result.
 */
import { STAYS, type Stays } from "../../closure/index.ts";
import { OptionError } from "../../errors/index.ts";
import { type CallName, call, checkLiteral, type Expression, type Literal, literal } from "../../plan/index.ts";
import { describe, SHOWN } from "../options.ts";
import type { Expr } from "./expr.ts";

/** An expression without a name of its own. `select` requires a name, given by `as`. */
export type Unnamed = { readonly unnamed: true };
/** The value of a column known by name only. It gets its type from the row type, where that is known. */
export interface ColumnValue<Name extends string> {
  readonly column: Name;
}
/** The type of a value that lies between values of the expression: a mean, a quantile. */
export interface Between<T> {
  readonly between: T;
}

declare const types: unique symbol;

export type AnyExpr<Refs extends string = string> = Expr<unknown, Refs, string | Unnamed>;
export type Operand = AnyExpr | Literal;
/** The columns that an operand reads. */
export type RefsOf<O> = O extends Expr<unknown, infer Refs, string | Unnamed> ? Refs : never;

const EXPRESSION_STAYS: Stays = {
  what: "an expression (col, lit, …)",
  remedy:
    "The kernel computes expressions, functions cannot: put it into a column first, with withColumn, and read that column in the function.",
};

export abstract class ExprCore<T, Refs extends string, Name extends string | Unnamed> {
  declare readonly [types]: { readonly value: T; readonly refs: Refs; readonly name: Name };

  constructor(
    readonly expression: Expression,
    /** The name of the result column; null: none was given. */
    readonly columnName: string | null,
  ) {}

  /** @internal The reason why a function that captures an expression is refused. */
  get [STAYS](): Stays {
    return EXPRESSION_STAYS;
  }

  protected abstract derive<V, R extends string>(expression: Expression): Expr<V, R, Unnamed>;

  protected call<V, R extends string>(name: CallName, ...operands: readonly Operand[]): Expr<V, R, Unnamed> {
    return this.derive(call(name, this.expression, ...operands.map(toExpression)));
  }
}

export function toExpression(operand: unknown): Expression {
  if (operand instanceof ExprCore) return operand.expression;
  if (typeof operand === "function") {
    throw new OptionError(
      "An expression takes values and other expressions, not a function. Use map or filter for functions.",
    );
  }
  if (typeof operand === "object" && operand !== null && SHOWN in operand) {
    throw new OptionError(`An expression takes values and other expressions, not ${describe(operand)}.`);
  }
  return literal(checkLiteral(operand, "expression"));
}
