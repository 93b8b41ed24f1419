/** Text by the columns that it takes on a terminal. Wide characters count as two, what does not print as a "?". */

/** From this code point on, characters may be two columns wide. Overestimating a width does no harm. */
const FIRST_WIDE = 0x1100;
const CUT = "…";

/** Without what would move the cursor or change colours: names come from users. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}

export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += isWide(character) ? 2 : 1;
  return width;
}

/** The longest beginning of the text that fits. */
export function clipped(text: string, width: number): string {
  return firstThatFit([...text], width).join("");
}

/** Cuts in the middle, because the beginning and the end of a long name say most. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const room = Math.max(0, width - 1);
  const end = firstThatFit([...text].reverse(), Math.floor(room / 2)).reverse();
  return `${clipped(text, room - Math.floor(room / 2))}${CUT}${end.join("")}`;
}

export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function isWide(character: string): boolean {
  return character !== CUT && (character.codePointAt(0) ?? 0) >= FIRST_WIDE;
}

function firstThatFit(characters: readonly string[], width: number): string[] {
  const kept: string[] = [];
  let used = 0;
  for (const character of characters) {
    used += isWide(character) ? 2 : 1;
    if (used > width) break;
    kept.push(character);
  }
  return kept;
}
