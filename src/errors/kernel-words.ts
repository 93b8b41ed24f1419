/**
 * Rewrites the kernel's messages for users: without names of its options, its advice and our own SQL. Useful advice is
 * given in our words.
 */

/** The beginning of the kernel's advice, or of what it shows of the query. */
const OWN_WORDS =
  /\s*(?:\n+LINE \d+:|\n\s*Possible (?:fixes|solutions)?:|\n {2}file = |\n?\s*Try setting |\n?Try increasing |, try ignore_errors|You may want to use read_blob|You might need to add explicit type casts|\n\s*Candidate )[\s\S]*/i;
const KIND = /^(?:[A-Z]\w*(?: [a-zA-Z]\w*)* )?Error: /;

type Words = string | ((found: RegExpExecArray) => string);

const AGAIN = "Write or copy it again, or leave it out";

/** The first pattern that matches gives the remedy. After a plain text, the kernel's own message follows. */
const REMEDIES: readonly (readonly [RegExp, Words])[] = [
  [/is encrypted|'encryption_config'/i, "it is encrypted, which Spillway cannot read. Decrypt it first"],
  [
    /too small to be a Parquet file|No magic bytes found/i,
    `it is not a Parquet file, or was cut short: a complete file ends with PAR1. ${AGAIN}`,
  ],
  [/not a GZIP stream/i, () => 'it is not a gzip file. Give compression: "none", or the right one'],
  [/Unknown frame descriptor/i, () => 'it is not a zstd file. Give compression: "none", or the right one'],
  [
    /UTF-16 encoding is not supported/i,
    () => "it is encoded in UTF-16. Convert it to UTF-8 (iconv -f utf-16 -t utf-8)",
  ],
  [
    /Malformed JSON in file "[^"]*", at byte (\d+) in (line|record\/value) (\d+): (.*?)\.?(?:\s|$)(?=\s*(?:Try|LINE|$))/i,
    ([, byte, unit, at, reason = ""]) => {
      const place = jsonPlace(Number(at), unit === "line", Number(byte));
      if (reason.includes("UTF-8")) return `it is not UTF-8. Convert it, or read its bytes with readBinary (${place})`;
      return `it is not valid JSON ${place}: ${reason}. Fix the file, or drop invalid lines with ignoreErrors`;
    },
  ],
  [
    /JSON transform error in file "[^"]*", in (?:line|record\/value) (\d+): Failed to cast value(?: to \w+)?: (.*)/i,
    ([, line, value]) =>
      `line ${line} has ${value} inside an object or a list whose values have another type. Declare a type that holds all values, such as schema: { column: "JSON" }, sample more rows with sampleSize, or drop such rows with ignoreErrors`,
  ],
  [
    /JSON transform error in file "[^"]*", in (?:line|record\/value) (\d+): Object [\s\S]* has duplicate key "(.*)"/i,
    ([, line, key]) =>
      `line ${line} has an object with the duplicate key ${JSON.stringify(key)}. Fix the file, or read the lines with readText`,
  ],
  [
    /Duplicate name "(.*)" in struct auto-detected in JSON/i,
    ([, name]) =>
      `an object in it has the key ${JSON.stringify(name)} twice, or a key that differs only in case. Rename it, or read the lines with readText`,
  ],
  [
    /Expected top-level JSON array/i,
    () => 'it is not an array of objects. Leave out format, or give format: "ndjson" for one object per line',
  ],
  [
    /Failed to parse format specifier (.*?): /i,
    ([, pattern]) =>
      `${JSON.stringify(pattern)} is not a pattern for dateFormat or timestampFormat. Patterns look like %d/%m/%Y and %H:%M:%S`,
  ],
  [
    /decompression failure|don't know what type|TProtocolException|Invalid footer|Footer length|Out of buffer|page header/i,
    `it is a Parquet file, but damaged. ${AGAIN}`,
  ],
  [/corrupt/i, `it is damaged. ${AGAIN}`],
  [
    /CSV Error on Line: (\d+)\n[\s\S]*Invalid unicode/,
    ([, line]) =>
      `line ${line} is not UTF-8. Give the encoding of the file, such as encoding: "latin-1", or drop such rows with ignoreErrors`,
  ],
  [
    /valid UTF-8|invalid UTF-8|Invalid unicode|not utf-8|unicode conversion/i,
    "it is not UTF-8. Convert it, or read its bytes with readBinary",
  ],
  [/maximum_object_size/i, "one of its objects is too large. Give a larger maxObjectSize"],
  [
    /CSV Error on Line: (\d+)\n[\s\S]*Maximum line size of (\d+) bytes exceeded/,
    ([, line, longest]) => `line ${line} is longer than ${longest} bytes. Give a larger maxLineSize`,
  ],
  [
    /CSV Reader currently does not support a full read/,
    () => "one of its lines, or of its fields in quotes, is too long. Give a larger maxLineSize",
  ],
  [
    /state machine reached an invalid state|Error when sniffing file|not possible to automatically detect/i,
    "it is not a CSV file, or has another dialect. Give the right delimiter, quote and escape, or drop bad rows with ignoreErrors",
  ],
];

const KERNELS_OPTION = /encryption_config|maximum_object_size|max_line_size|strict_mode|ignore_errors/;

/** Whether the message is about the file itself, and not about the query over it. */
export function isKnownFault(message: string): boolean {
  return REMEDIES.some(([pattern]) => pattern.test(message));
}

/** What is wrong with a file that cannot be read, and what to do. */
export function fileFault(message: string, path: string): string {
  for (const [pattern, words] of REMEDIES) {
    const found = pattern.exec(message);
    if (found === null) continue;
    if (typeof words === "function") return `${words(found)}.`;
    const said = withoutFile((plainWords(message).split("\n")[0] ?? "").replace(/\.$/, ""), path);
    return said === "" || KERNELS_OPTION.test(said) ? `${words}.` : `${words} (${said}).`;
  }
  return withoutFile(plainWords(message), path);
}

/** The kernel's counter is one ahead when it finds an invalid value. */
function jsonPlace(at: number, isLine: boolean, byte: number): string {
  const place = Math.max(1, at - 1);
  return isLine ? `in line ${place}, byte ${byte}` : `in its value ${place}, byte ${byte} of it`;
}

/** The message has already named the file. */
function withoutFile(text: string, path: string): string {
  if (path === "") return text;
  for (const quote of ["'", '"']) {
    const file = `${quote}${path}${quote}`;
    for (const before of ["Failed to read file ", " in file ", "File ", ": "]) {
      if (text.includes(`${before}${file}`)) return text.replace(`${before}${file}`, "").replace(/^:? ?/, "");
    }
  }
  return text.replace(`: ${path}`, "");
}

/** The message without the kind of error, our SQL and the kernel's advice. */
function plainWords(message: string): string {
  return message.replace(OWN_WORDS, "").replace(KIND, "").trim();
}

/** Removes the line of SQL from the message if it shows only our own SQL. */
export function withoutOwnSql(message: string): string {
  return /__spillway_|\bblock\(\d+\)|^(?:Conversion|Catalog) Error/.test(message)
    ? message.replace(/\s*\n+LINE \d+:[\s\S]*/, "")
    : message;
}
