/**
 * Joins many small JSON files into one with a value per line. A file is accepted if each of its lines is a value, or if
 * the whole file is one value. JavaScript checks this, because the kernel accepts more (several values in a line), and
 * because two halves of a value in two files must not become one value.
 */
const LINE_FEED = 10;
const RETURN = 13;
const BLANK = 32;
const END = Uint8Array.of(LINE_FEED);

export class JsonJoin {
  readonly #lines: Uint8Array[] = [];

  /** Copies the bytes of a file that can be read with the others; false: it cannot, and is left out. */
  add(file: Uint8Array): boolean {
    if (file.length === 0) return true;
    const bytes = Buffer.from(file);
    const text = bytes.toString("utf8");
    // Only objects are rows. An array has several rows, and is read by itself.
    if (!/^[ \t\r\n]*\{/.test(text)) return false;
    if (!areValues(text.split("\n"))) {
      if (!isValue(text)) return false;
      // One value over several lines is put on one line. JSON strings have no line breaks, so each stands between
      // tokens.
      for (let i = 0; i < bytes.length; i++) if (bytes[i] === LINE_FEED || bytes[i] === RETURN) bytes[i] = BLANK;
    }
    this.#lines.push(bytes, END);
    return true;
  }

  parts(): readonly Uint8Array[] {
    return [Buffer.concat(this.#lines)];
  }
}

function areValues(lines: readonly string[]): boolean {
  // Blank lines first: finding out that they are no values takes an exception.
  return lines.every((line) => /^[ \t\r]*$/.test(line) || isValue(line));
}

function isValue(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
