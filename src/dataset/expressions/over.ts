/** The options of `over`, checked: which rows a window looks at. */
import { OptionError } from "../../errors/index.ts";
import { column, type Expression, type WindowExpression, windowOf } from "../../plan/index.ts";
import { checkKeys, describe, text } from "../options.ts";
import { orderKeys, type SortOptions } from "../order-options.ts";
import { type AnyExpr, ExprCore, type RefsOf, type Unnamed } from "./core.ts";
import type { Expr } from "./expr.ts";
import { checkFrame, type WindowFrame } from "./frame.ts";

/** A column by name, or an expression. */
export type WindowKey = string | AnyExpr;
type KeyRefs<K> = K extends string ? K : RefsOf<K>;

interface PartitionOptions<P> extends SortOptions {
  /**
   * Rows with equal values in these columns form a partition; null equals null. Default: all rows are one partition.
   */
  readonly partitionBy?: P | readonly P[];
}

export interface OverOptions<P extends WindowKey = WindowKey, O extends WindowKey = WindowKey>
  extends PartitionOptions<P> {
  /** The order of the rows in a partition, with `descending` and `nulls` as in `sort`. */
  readonly orderBy?: O | readonly O[];
  /**
   * Which rows of the partition, for each row. Default with an order: all rows up to this one and those equal to it;
   * without an order: all rows.
   */
  readonly frame?: WindowFrame;
}

/** For functions that need an order. */
export interface OrderedOverOptions<
  P extends WindowKey = WindowKey,
  O extends WindowKey = WindowKey,
  F extends WindowFrame = never,
> extends PartitionOptions<P> {
  /** The order of the rows in a partition, with `descending` and `nulls` as in `sort`. */
  readonly orderBy: O | readonly O[];
  /** Only for `last`. Default: the whole partition. */
  readonly frame?: F;
}

export type Windowed<T, Refs extends string, P, O> = Expr<T, Refs | KeyRefs<P> | KeyRefs<O>, Unnamed>;

const FRAMELESS = new Set(["rowNumber", "rank", "denseRank", "ntile", "lag", "lead"]);
const ORDERED = new Set([...FRAMELESS, "first", "last"]);

export function windowOver(of: WindowExpression["of"], options: OverOptions): WindowExpression {
  const operator = `${of.name}().over`;
  checkKeys(operator, options, ["partitionBy", "orderBy", "descending", "nulls", "frame"]);
  const partitionBy = keysOf(operator, "partitionBy", options.partitionBy);
  const orderBy = keysOf(operator, "orderBy", options.orderBy);
  if (orderBy.length === 0) checkUnordered(of, operator, options);
  if (options.frame !== undefined && FRAMELESS.has(of.name)) {
    throw new OptionError(`${operator}: ${of.name} covers the whole partition and takes no frame.`);
  }
  if (of.name === "first" && of.kind === "aggregate" && of.where !== null) {
    throw new OptionError(`${operator}: first takes no condition in a window. Filter the rows first, or use min.`);
  }
  const frame = options.frame === undefined ? null : checkFrame(operator, options.frame, orderBy.length);
  return windowOf(of, { partitionBy, orderBy: orderKeys(operator, orderBy, options), frame });
}

function checkUnordered(of: WindowExpression["of"], operator: string, options: OverOptions): void {
  if (ORDERED.has(of.name)) {
    throw new OptionError(`${operator}: ${of.name} needs an order. Give orderBy: "column".`);
  }
  for (const name of ["descending", "nulls"] as const) {
    if (options[name] !== undefined) throw new OptionError(`${operator}: ${name} needs orderBy, which is missing.`);
  }
}

function keysOf(operator: string, option: string, given: unknown): readonly Expression[] {
  if (given === undefined) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0)
    throw new OptionError(`${operator}: ${option} is an empty list; name a column, or leave it out.`);
  return list.map((key) => {
    if (key instanceof ExprCore) return key.expression;
    if (typeof key === "string") return column(text(operator, option, key));
    throw new OptionError(`${operator}: ${option} has ${describe(key)}, which is neither a name nor an expression.`);
  });
}
