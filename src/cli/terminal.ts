/**
 * What a terminal shows: names of operators and files come from users, and a control character in them must never act
 * on the terminal of whoever looks.
 */

/** Controls of both ranges, and the marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u001b": "\\e" };

/** `kept`: controls that may stay, such as the ends of lines. */
export function printable(text: string, kept = ""): string {
  return text.replace(CONTROLS, (character) => (kept.includes(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  return SHORT[character] ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/** JSON, indented; a terminal acts on some characters that JSON leaves as they are. */
export function json(value: unknown): string {
  const text = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? Number(one) : one), 2);
  return `${text.replace(CONTROLS, (character) =>
    character === "\n" ? character : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  )}\n`;
}

/** Columns of the terminal; no limit elsewhere. */
export function screenWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
}

type Look = "bold" | "dim" | "red" | "yellow" | "green" | "blue";

const CODES: Readonly<Record<Look, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  blue: [34, 39],
};

/** Adds colour on a terminal that has colours, unless NO_COLOR is set. */
export function styled(look: Look, text: string): string {
  // This method exists only on terminals.
  if (!process.stdout.isTTY || !process.stdout.hasColors()) return text;
  const [on, off] = CODES[look];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

export function say(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}
