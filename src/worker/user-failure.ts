/**
 * What the user's code threw outside of a row (in a constructor, a factory, a called function), as an error with the
 * user's own lines.
 */
import { causeLines, FunctionError, retold, type Told, tell } from "../errors/index.ts";
import { isError } from "../realm/index.ts";

export function userFailure(
  operator: string,
  what: string,
  thrown: unknown,
  mapStack: (stack: string) => string,
): FunctionError {
  const told = tell(isError(thrown) ? thrown : new Error(String(thrown)), mapStack);
  const { name, said, stack, details } = partsOf(told);
  const message = [`${operator}: ${what}: ${name}: ${said}`, ...details, ...framesOf(stack)].join("\n");
  return new FunctionError(message, operator, null, null, [], name, stack, { cause: retold(told) });
}

/** What a message about it needs. */
export function partsOf(told: Told): {
  readonly name: string;
  readonly said: string;
  readonly stack: string | null;
  /** Its fields and causes, one line each. */
  readonly details: readonly string[];
} {
  if (!("error" in told)) return { name: "", said: "", stack: null, details: [] };
  const { name, message, stack, shown } = told.error;
  return { name, said: message, stack, details: [...(shown === "" ? [] : [`  ${shown}`]), ...causeLines(told)] };
}

export function framesOf(stack: string | null): readonly string[] {
  return stack?.split("\n").filter((line) => line.trimStart().startsWith("at ")) ?? [];
}
