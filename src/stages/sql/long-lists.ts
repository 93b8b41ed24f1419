/**
 * A condition as SQL. A long list of whole numbers becomes one text that the kernel parses into a list: a hundred
 * thousand numbers take 1.8 s to plan as literals, and 0.3 s as a text. Only for conditions of WHERE: elsewhere SQL may
 * not allow a subquery.
 */
import { type CallExpression, type Expression, expressionSql } from "../../plan/index.ts";

const LONG = 1000;

export function conditionSql(condition: Expression): string {
  if (condition.kind !== "call") return expressionSql(condition);
  if (condition.name === "in") return inSql(condition) ?? expressionSql(condition);
  const [input] = condition.args;
  if (condition.name !== "not" || input?.kind !== "call" || input.name !== "in") return expressionSql(condition);
  const within = inSql(input);
  return within === null ? expressionSql(condition) : `(NOT ${within})`;
}

function inSql({ args: [input, ...values] }: CallExpression): string | null {
  if (input === undefined || values.length < LONG || !values.every(isWhole)) return null;
  const texts = values.map((value) => (value.kind === "literal" ? String(value.value ?? "NULL") : ""));
  return `(${expressionSql(input)} IN (SELECT unnest(CAST('[${texts.join(",")}]' AS BIGINT[]))))`;
}

/** A whole number of 64 bits, or null. */
function isWhole(expression: Expression): boolean {
  if (expression.kind !== "literal") return false;
  const { value } = expression;
  if (typeof value === "bigint") return BigInt.asIntN(64, value) === value;
  return value === null || (Number.isSafeInteger(value) && !Object.is(value, -0));
}
