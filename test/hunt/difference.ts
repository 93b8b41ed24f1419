/** What a case was, and what is wrong with it. */
export class Difference extends Error {
  constructor(facts: Readonly<Record<string, string>>, cause: unknown) {
    const lines = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
    super([...lines, whatDiffers(cause)].join("\n"), { cause });
    this.name = "Difference";
  }
}

const MOST_SHOWN = 12;

interface Compared {
  readonly actual: unknown;
  readonly expected: unknown;
}

function isCompared(error: unknown): error is Error & Compared {
  return error instanceof Error && "actual" in error && "expected" in error;
}

function whatDiffers(error: unknown): string {
  if (!isCompared(error)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  // Of what is true or not, the message says more.
  if (typeof error.expected === "boolean") return error.message;
  const [actual, expected] = [linesOf(error.actual), linesOf(error.expected)];
  const missing = difference(expected, actual);
  const extra = difference(actual, expected);
  if (missing.length + extra.length === 0) {
    const at = expected.findIndex((line, i) => line !== actual[i]);
    return `the same rows in another order; from place ${at} on: expected ${shown(expected.slice(at))}\n  got ${shown(actual.slice(at))}`;
  }
  return `${expected.length} rows expected, ${actual.length} came; missing: ${shown(missing)}\n  too many: ${shown(extra)}`;
}

function shown(lines: readonly string[]): string {
  const cut = lines.slice(0, MOST_SHOWN).map((line) => `\n    ${line.length > 600 ? `${line.slice(0, 600)}…` : line}`);
  return lines.length === 0
    ? "nothing"
    : cut.join("") + (lines.length > MOST_SHOWN ? `\n    and ${lines.length - MOST_SHOWN} more` : "");
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, items]) => linesOf(items).map((line) => `${name}: ${line}`));
  }
  return [String(value)];
}

/** Lines that are more often in `some` than in `others`. */
function difference(some: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const each of others) left.set(each, (left.get(each) ?? 0) + 1);
  return some.filter((each) => {
    const n = left.get(each) ?? 0;
    left.set(each, n - 1);
    return n <= 0;
  });
}
