/** Values of command lines, and errors for wrong ones. */

export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A list of names with commas between them, all of them known; null if there is no text. */
export function names<Name extends string>(
  text: string | undefined,
  known: readonly Name[],
  what: string,
): Name[] | null {
  if (text === undefined) {
    return null;
  }
  return text.split(",").map((name) => {
    const found = known.find((candidate) => candidate === name.trim());
    if (found === undefined) {
      throw new UsageError(`There is no ${what} "${name}"; there are ${known.join(", ")}.`);
    }
    return found;
  });
}

/** A whole number above 0, also written as 6e6 or 6_000_000; null if there is no text. */
export function count(text: string | undefined, option: string): number | null {
  if (text === undefined) {
    return null;
  }
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isInteger(value) || value < 1) {
    throw new UsageError(`${option} takes a whole number above 0, such as 6e6; "${text}" is none.`);
  }
  return value;
}
