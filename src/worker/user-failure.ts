/** What the user's code threw outside of a row, as an error with their own lines: of a constructor, a factory, a called function. */
import { FunctionError } from "../errors/index.ts";

export function userFailure(
  operator: string,
  what: string,
  thrown: unknown,
  mapStack: (stack: string) => string,
): FunctionError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const stack = error.stack === undefined ? null : mapStack(error.stack);
  const lines = stack?.split("\n").filter((line) => line.trimStart().startsWith("at ")) ?? [];
  const message = [`${operator}: ${what}: ${error.name}: ${error.message}`, ...lines].join("\n");
  return new FunctionError(message, operator, null, null, [], error.name, stack);
}
