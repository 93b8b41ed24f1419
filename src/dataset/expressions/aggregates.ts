/**
 * Aggregates make one value of many rows, for `groupBy(…).agg` and `agg`. Their results can be used in expressions
 * (`col("a").sum().divide(count())`). All but `count()`, `first` and `list` leave out nulls.
 */
import { OptionError } from "../../errors/index.ts";
import type { AggregateName } from "../../plan/index.ts";
import { describe } from "../options.ts";
import type { Between, Unnamed } from "./core.ts";
import type { AggregateExpr } from "./expr.ts";
import { NestedMethods } from "./nested.ts";

export abstract class AggregateMethods<T, Refs extends string, Name extends string | Unnamed> extends NestedMethods<
  T,
  Refs,
  Name
> {
  protected abstract aggregated<V>(name: AggregateName, fraction?: number): AggregateExpr<V, Refs>;

  /** Null if there is no value to add. */
  sum(): AggregateExpr<number, Refs> {
    return this.aggregated("sum");
  }
  /** The mean of numbers is a number; that of dates and timestamps is a timestamp. */
  mean(): AggregateExpr<Between<T>, Refs> {
    return this.aggregated("mean");
  }
  min(): AggregateExpr<T, Refs> {
    return this.aggregated("min");
  }
  max(): AggregateExpr<T, Refs> {
    return this.aggregated("max");
  }
  /** The standard deviation of a sample (n - 1); null for fewer than two values. */
  std(): AggregateExpr<number | null, Refs> {
    return this.aggregated("std");
  }
  /** The variance of a sample (n - 1); null for fewer than two values. */
  var(): AggregateExpr<number | null, Refs> {
    return this.aggregated("var");
  }
  /** The value below which this fraction of the values lies, interpolated if it falls between two values. */
  quantile(fraction: number): AggregateExpr<Between<T>, Refs> {
    if (typeof fraction !== "number" || !(fraction >= 0 && fraction <= 1)) {
      throw new OptionError(`quantile: the fraction is ${describe(fraction)}; it must be from 0 to 1.`);
    }
    return this.aggregated("quantile", fraction);
  }
  median(): AggregateExpr<Between<T>, Refs> {
    return this.aggregated("quantile", 0.5);
  }
  /** How many values are not null; `count()` counts rows. */
  count(): AggregateExpr<number, Refs> {
    return this.aggregated("count");
  }
  /** How many different values there are, not counting null. */
  countDistinct(): AggregateExpr<number, Refs> {
    return this.aggregated("countDistinct");
  }
  /** The value of the first row, null or not. Only after a sort is it certain which row is the first. */
  first(): AggregateExpr<T, Refs> {
    return this.aggregated("first");
  }
  /** All values in a list, including nulls. */
  list(): AggregateExpr<T[], Refs> {
    return this.aggregated("list");
  }
}
