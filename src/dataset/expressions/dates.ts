/** Date and time functions. Times without a zone are taken as they are; times with one are converted to UTC. */
import { OptionError } from "../../errors/index.ts";
import { type CallName, call, literal } from "../../plan/index.ts";
import { nearest } from "../../units/index.ts";
import { type Operand, type RefsOf, toExpression, type Unnamed } from "./core.ts";
import type { Expr } from "./expr.ts";
import { StringMethods } from "./strings.ts";

type Result<T, Refs extends string, O = never> = Expr<T, Refs | RefsOf<O>, Unnamed>;

const units = [
  "microsecond",
  "millisecond",
  "second",
  "minute",
  "hour",
  "day",
  "week",
  "month",
  "quarter",
  "year",
  "decade",
  "century",
] as const;
export type DateUnit = (typeof units)[number];

const additions = {
  year: "addYears",
  month: "addMonths",
  day: "addDays",
  hour: "addHours",
  minute: "addMinutes",
  second: "addSeconds",
} as const satisfies Readonly<Record<string, CallName>>;

function checkUnit(unit: string): string {
  if (units.some((known) => known === unit)) return unit;
  const hint = nearest(unit, units);
  throw new OptionError(
    `"${unit}" is not a unit of time.${hint === null ? "" : ` Did you mean "${hint}"?`} Units: ${units.join(", ")}.`,
  );
}

export abstract class DateMethods<T, Refs extends string, Name extends string | Unnamed> extends StringMethods<
  T,
  Refs,
  Name
> {
  year(): Result<number, Refs> {
    return this.call("year");
  }
  quarter(): Result<number, Refs> {
    return this.call("quarter");
  }
  /** 1 to 12. */
  month(): Result<number, Refs> {
    return this.call("month");
  }
  /** ISO week. */
  week(): Result<number, Refs> {
    return this.call("week");
  }
  /** Day of the month, from 1. */
  day(): Result<number, Refs> {
    return this.call("day");
  }
  /** 0 is Sunday, as in JavaScript. */
  dayOfWeek(): Result<number, Refs> {
    return this.call("dayOfWeek");
  }
  dayOfYear(): Result<number, Refs> {
    return this.call("dayOfYear");
  }
  hour(): Result<number, Refs> {
    return this.call("hour");
  }
  minute(): Result<number, Refs> {
    return this.call("minute");
  }
  second(): Result<number, Refs> {
    return this.call("second");
  }
  millisecond(): Result<number, Refs> {
    return this.call("millisecond");
  }
  /** Milliseconds since 1970, as `Date.getTime` gives them. */
  epochMilliseconds(): Result<number, Refs> {
    return this.call("epochMilliseconds");
  }
  /** The start of the day, month, … that contains this time. */
  dateTrunc(unit: DateUnit): Result<Date, Refs> {
    return this.derive(call("dateTrunc", literal(checkUnit(unit)), this.expression));
  }
  /**
   * How many boundaries of the unit lie between this and the other: the days from this date to the other, for example.
   */
  dateDiff<O extends Operand>(unit: DateUnit, other: O): Result<number, Refs, O> {
    return this.derive(call("dateDiff", literal(checkUnit(unit)), this.expression, toExpression(other)));
  }
  dateAdd<O extends Operand>(unit: keyof typeof additions, amount: O): Result<Date, Refs, O> {
    const name: CallName | undefined = additions[unit];
    if (name === undefined)
      throw new OptionError(`dateAdd: "${unit}" is not one of ${Object.keys(additions).join(", ")}.`);
    return this.call(name, amount);
  }
  /** As text, formatted by a pattern: `%Y-%m-%d %H:%M:%S`. */
  strftime(pattern: string): Result<string, Refs> {
    return this.call("strftime", pattern);
  }
  /** Parses a text of that pattern into a timestamp. */
  strptime(pattern: string): Result<Date, Refs> {
    return this.call("strptime", pattern);
  }
  atTimeZone(zone: string): Result<Date, Refs> {
    return this.call("atTimeZone", zone);
  }
}
