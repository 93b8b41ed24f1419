/** Names and text as SQL spells them. Everything that comes from a user passes through here. */

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** SQL text ends at a NUL for the kernel, so one inside a value is spelled out. */
export function quoteText(text: string): string {
  if (text.includes("\0")) return `(${text.split("\0").map(quoteText).join(" || chr(0) || ")})`;
  return `'${text.replaceAll("'", "''")}'`;
}

export function quoteTextList(texts: readonly string[]): string {
  return `[${texts.map(quoteText).join(", ")}]`;
}
