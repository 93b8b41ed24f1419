/** Names and texts as SQL: always quoted, so that nothing in them is ever read as SQL. */
import { KernelError } from "../errors/index.ts";

export function quoteIdentifier(name: string): string {
  if (name.includes("\0")) {
    throw new KernelError(`The name ${JSON.stringify(name)} has a zero character, which no name may have.`, "Parser");
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** A zero character ends a C string, so it is spelled `chr(0)`. */
export function quoteLiteral(text: string): string {
  const quoted = text.split("\0").map((part) => `'${part.replaceAll("'", "''")}'`);
  return quoted.length === 1 ? `${quoted[0]}` : `(${quoted.join(" || chr(0) || ")})`;
}
