/**
 * Methods that run a dataset's plan and give one value of all rows, or one row of several values. Also the base for
 * other consuming methods: it keeps the figures of the last run.
 */
import type { ValueOptions } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import { type AggregateName, aggregate, aggregateOf, column, type NamedExpression, type Plan } from "../plan/index.ts";
import type { JobStats } from "../protocol/index.ts";
import type { Run } from "./consume/blocks.ts";
import { Cancellation, type CancelOptions, cancelKeys, never } from "./consume/cancellation.ts";
import { collectRows } from "./consume/rows.ts";
import { Expr } from "./expressions/index.ts";
import { onlyValues } from "./functions.ts";
import { itemsByName } from "./items.ts";
import { checkKeys, describe, text } from "./options.ts";
import { RelationalMethods } from "./relational-methods.ts";
import type { Aggregated, AggregateItems } from "./relational-types.ts";
import type { AnyRow, ColumnName, Condition, ItemValue, Middle } from "./row-types.ts";

/** What is summed up: a column by name, or an expression. */
type Summed<R> = ColumnName<R> | Condition<R>;

export abstract class AggregateMethods<out R extends AnyRow> extends RelationalMethods<R, "dataset"> {
  #stats: JobStats | null = null;
  #going: JobStats | null = null;
  #endedEarly = false;

  /** Figures of the last run that ended well. */
  protected get lastStats(): JobStats | null {
    return this.#stats;
  }

  /** The same, or as far as a later run has come. */
  protected get latestStats(): JobStats | null {
    return this.#going ?? this.#stats;
  }

  /** The last run ended early, before it had figures. */
  protected get endedEarly(): boolean {
    return this.#endedEarly && this.#going === null;
  }

  protected run(plan: Plan = this.plan, cancellation: Cancellation = never): Run {
    return {
      cancellation,
      engine: this.engine,
      plan,
      going: (stats) => {
        // A run tells null at its end; what it has told before stays.
        if (stats === null) this.#endedEarly = true;
        else this.#going = stats;
      },
      ended: (stats) => {
        this.#stats = stats;
        this.#going = null;
      },
    };
  }

  /** Runs the work of a method until it is done, its signal aborts or its timeout has passed. */
  protected async consume<T>(
    operator: string,
    options: CancelOptions,
    work: (run: Run) => Promise<T>,
    plan: Plan = this.plan,
  ): Promise<T> {
    const cancellation = new Cancellation(operator, options);
    return cancellation.over(() => work(this.run(plan, cancellation)));
  }

  /**
   * Several aggregates at once, of all rows: `const { n, total } = await ds.agg({ n: count(), total: col("x").sum()
   * })`.
   */
  agg<const Items extends AggregateItems<R, unknown>, Row = R>(
    items: Items,
    options: ValueOptions & CancelOptions = {},
  ): Promise<Aggregated<Row, unknown, Items>> {
    return this.#row("agg", itemsByName("agg", items), onlyValues("agg", options), options);
  }

  /** Null if there is no value to add; likewise for the other aggregates except `countDistinct`. Nulls are left out. */
  sum(of: Summed<R>, options: CancelOptions = {}): Promise<number | null> {
    return this.#value("sum", of, options);
  }

  /** The mean of numbers is a number; that of dates and timestamps is a timestamp. */
  mean<const I extends Summed<R>, Row = R>(
    of: I,
    options: CancelOptions = {},
  ): Promise<Middle<ItemValue<Row, I>> | null> {
    return this.#value("mean", of, options);
  }

  min<const I extends Summed<R>, Row = R>(of: I, options: CancelOptions = {}): Promise<ItemValue<Row, I> | null> {
    return this.#value("min", of, options);
  }

  max<const I extends Summed<R>, Row = R>(of: I, options: CancelOptions = {}): Promise<ItemValue<Row, I> | null> {
    return this.#value("max", of, options);
  }

  /** The standard deviation of a sample (n - 1); null for fewer than two values. */
  std(of: Summed<R>, options: CancelOptions = {}): Promise<number | null> {
    return this.#value("std", of, options);
  }

  /** The variance of a sample (n - 1); null for fewer than two values. */
  var(of: Summed<R>, options: CancelOptions = {}): Promise<number | null> {
    return this.#value("var", of, options);
  }

  /** The value below which this fraction of the values lies, interpolated if it falls between two values. */
  quantile<const I extends Summed<R>, Row = R>(
    of: I,
    fraction: number,
    options: CancelOptions = {},
  ): Promise<Middle<ItemValue<Row, I>> | null> {
    return this.#value("quantile", of, options, fraction);
  }

  median<const I extends Summed<R>, Row = R>(
    of: I,
    options: CancelOptions = {},
  ): Promise<Middle<ItemValue<Row, I>> | null> {
    return this.#value("quantile", of, options, 0.5, "median");
  }

  /** How many different values there are, not counting null. */
  countDistinct(of: Summed<R>, options: CancelOptions = {}): Promise<number> {
    return this.#value("countDistinct", of, options);
  }

  async #value<V>(
    name: AggregateName,
    of: unknown,
    options: CancelOptions,
    fraction?: number,
    operator: string = name,
  ): Promise<V> {
    checkKeys(operator, options, cancelKeys);
    if (fraction !== undefined && !(typeof fraction === "number" && fraction >= 0 && fraction <= 1)) {
      throw new OptionError(`quantile: the fraction is ${describe(fraction)}; it must be from 0 to 1.`);
    }
    const input = of instanceof Expr ? of.expression : column(text(operator, "the column", of));
    const expression = aggregateOf(name, input, { fraction });
    const { value } = await this.#row<{ value: V }>(operator, [{ name: "value", expression }], {}, options);
    return value;
  }

  async #row<O extends AnyRow>(
    operator: string,
    items: readonly NamedExpression[],
    values: ValueOptions,
    options: CancelOptions,
  ): Promise<O> {
    const plan = aggregate(this.plan, [], items);
    const [row] = await this.consume(operator, options, (run) => collectRows<O>(run, values), plan);
    if (row === undefined) throw new Error("an aggregate over all rows gave no row");
    return row;
  }
}
