/**
 * Names and texts in SQL's spelling. Everything that comes from a user passes through here, so that none of it is read
 * as SQL.
 */
import { OptionError } from "../errors/index.ts";

/** The kernel ends the SQL at a NUL, and a name has no other spelling for it. */
export function quoteIdentifier(name: string): string {
  if (name.includes("\0")) {
    throw new OptionError(`The name ${JSON.stringify(name)} has a NUL character, which no name may have.`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** A NUL inside a text is written as `chr(0)`. */
export function quoteText(text: string): string {
  if (text.includes("\0")) return `(${text.split("\0").map(quoteText).join(" || chr(0) || ")})`;
  return `'${text.replaceAll("'", "''")}'`;
}

export function quoteTextList(texts: readonly string[]): string {
  return `[${texts.map(quoteText).join(", ")}]`;
}
