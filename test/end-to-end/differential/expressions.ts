/** Random conditions and values over columns, and the SQL that says the same. */
import { col, type Expr, lit, when } from "spillway";
import { type Any, type Choice, type Columns, type Kind, named, quoted } from "./step.ts";

export interface Said {
  readonly expr: Expr<Any, Any, Any>;
  readonly sql: string;
}

export function condition(columns: Columns, choice: Choice): Said | null {
  const numbers = named(columns, "number");
  const texts = named(columns, "text");
  const options: (() => Said)[] = [];
  if (numbers.length > 0) {
    const name = choice.of(numbers);
    const n = choice.below(20) - 10;
    options.push(
      () => ({ expr: col(name).gt(n), sql: `${quoted(name)} > ${n}` }),
      () => ({
        expr: col(name).le(n).or(col(name).isNull()),
        sql: `(${quoted(name)} <= ${n} OR ${quoted(name)} IS NULL)`,
      }),
      () => ({ expr: col(name).between(n, n + 7), sql: `${quoted(name)} BETWEEN ${n} AND ${n + 7}` }),
      () => ({ expr: col(name).in([n, n + 1, n + 2]), sql: `${quoted(name)} IN (${n}, ${n + 1}, ${n + 2})` }),
      () => ({ expr: col(name).eq(n).not(), sql: `NOT (${quoted(name)} = ${n})` }),
    );
  }
  if (texts.length > 0) {
    const name = choice.of(texts);
    options.push(
      () => ({ expr: col(name).isNotNull(), sql: `${quoted(name)} IS NOT NULL` }),
      () => ({ expr: col(name).contains("a'"), sql: `contains(${quoted(name)}, 'a''')` }),
      () => ({ expr: col(name).ge("m"), sql: `${quoted(name)} >= 'm'` }),
    );
  }
  return options.length === 0 ? null : choice.of(options)();
}

export function value(columns: Columns, choice: Choice): Said & { readonly kind: Kind } {
  const numbers = named(columns, "number");
  const texts = named(columns, "text");
  const options: (() => Said & { readonly kind: Kind })[] = [
    () => ({ expr: lit("it's"), sql: "'it''s'", kind: "text" }),
    () => ({ expr: lit(7), sql: "7", kind: "number" }),
  ];
  if (numbers.length > 0) {
    const a = choice.of(numbers);
    const b = choice.of(numbers);
    options.push(
      () => ({ expr: col(a).add(col(b)), sql: `(${quoted(a)} + ${quoted(b)})`, kind: "number" }),
      () => ({ expr: col(a).multiply(2).subtract(1), sql: `(${quoted(a)} * 2 - 1)`, kind: "number" }),
      () => ({
        expr: when(col(a).gt(0)).then(col(b)).otherwise(0),
        sql: `CASE WHEN ${quoted(a)} > 0 THEN ${quoted(b)} ELSE 0 END`,
        kind: "number",
      }),
    );
  }
  if (texts.length > 0) {
    const a = choice.of(texts);
    options.push(
      () => ({ expr: col(a).upper(), sql: `upper(${quoted(a)})`, kind: "text" }),
      () => ({ expr: col(a).length(), sql: `length(${quoted(a)})`, kind: "number" }),
    );
  }
  return choice.of(options)();
}
