/** The beginnings of CSV files as text: read here if the file is plain, and by the kernel if it is compressed. */
import { readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { quoteText } from "../../arrow/index.ts";
import { type CsvRecord, type FoundDialect, findDialect, type GivenDialect } from "../../csv/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { Bytes, TextEncoding } from "../../protocol/index.ts";
import { messageOf } from "../../realm/index.ts";
import type { Engine } from "../engine.ts";
import { decodedText } from "./csv-decoded.ts";
import { limitsFor, lineArguments } from "./csv-lines.ts";
import type { SourceFile } from "./files.ts";
import { pathListSql } from "./kernel-paths.ts";
import { inRounds } from "./rounds.ts";

interface Head {
  readonly text: string;
  readonly isWhole: boolean;
}

interface HeadSettings {
  readonly given: GivenDialect;
  readonly compression: string | null;
  readonly encoding: TextEncoding;
  readonly maxLineSize: Bytes | null;
}

const NO_HEAD: Head = { text: "", isWhole: true };
/** Enough for most headers and for a hundred rows, from which the dialect is found. */
const FIRST: Bytes = 32 * 1024;
const LONGEST_LINE: Bytes = 2 ** 29;
const OPEN_AT_ONCE = 16;
const FILES_PER_QUERY = 64;
const LINES = 200;

/** The heads of all files, in order. */
export async function headsOf(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  settings: HeadSettings,
): Promise<readonly Head[]> {
  const { given, compression, encoding, maxLineSize } = settings;
  if (encoding !== "utf-8") {
    const decoded: Head[] = [];
    for (const file of files) decoded.push(await decodedHead(file, settings));
    return decoded;
  }
  const heads = new Map<SourceFile, Head>();
  const packed = files.filter((file) => isPacked(file, compression));
  const plain = files.filter((file) => !isPacked(file, compression));
  const small = plain.filter(({ bytes }) => bytes < FIRST);
  const found = await inRounds(small, smallHead, (file) => plainHead(file, given));
  small.forEach((file, i) => {
    heads.set(file, found[i] ?? NO_HEAD);
  });
  const waiting = plain.filter(({ bytes }) => bytes >= FIRST).values();
  const readSome = async () => {
    for (const file of waiting) heads.set(file, await plainHead(file, given));
  };
  await Promise.all(Array.from({ length: OPEN_AT_ONCE }, readSome));
  for (let at = 0; at < packed.length; at += FILES_PER_QUERY) {
    const some = packed.slice(at, at + FILES_PER_QUERY);
    const found = await packedHeads(engine, some, compression, maxLineSize);
    some.forEach((file, i) => {
      heads.set(file, found[i] ?? NO_HEAD);
    });
  }
  return files.map((file) => heads.get(file) ?? NO_HEAD);
}

async function decodedHead(file: SourceFile, settings: HeadSettings): Promise<Head> {
  let text = "";
  for await (const piece of decodedText(file, settings)) {
    text += piece;
    if (text.length >= FIRST && hasRecord(text, settings.given)) return { text, isWhole: false };
  }
  return { text, isWhole: true };
}

export function isPacked(file: SourceFile, compression: string | null): boolean {
  return compression === null || compression.startsWith("auto")
    ? /\.(gz|zst)$/i.test(file.path)
    : compression !== "none" && compression !== "uncompressed";
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** All of a small file. */
function smallHead(file: SourceFile): Head {
  try {
    const bytes = readFileSync(file.path);
    checkKind(file, bytes);
    return { text: decoder.decode(bytes), isWhole: true };
  } catch (error) {
    throw error instanceof SourceError ? error : unreadable(file, error);
  }
}

function unreadable(file: SourceFile, error: unknown): SourceError {
  return new SourceError(`readCsv: ${file.shown} cannot be read: ${messageOf(error)}`, file.path);
}

/** Reads on until the head contains a whole record. */
async function plainHead(file: SourceFile, given: GivenDialect): Promise<Head> {
  const handle = await open(file.path, "r").catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    for (let size = FIRST; ; size *= 8) {
      const bytes = Buffer.allocUnsafe(Math.min(size, file.bytes + 1));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      checkKind(file, bytes.subarray(0, bytesRead));
      const isWhole = bytesRead < bytes.length || size >= LONGEST_LINE;
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, bytesRead), {
        stream: !isWhole,
      });
      if (isWhole || hasRecord(text, given)) return { text, isWhole };
    }
  } finally {
    await handle.close();
  }
}

/** How files of other kinds begin, what they are, and what to do with them. */
const OTHER_KINDS: readonly (readonly [string, string, string])[] = [
  ["\x1f\x8b", "a gzip file", 'Give compression: "gzip".'],
  ["\x28\xb5\x2f\xfd", "a zstd file", 'Give compression: "zstd".'],
  ["BZh", "a bzip2 file", "Unpack it first."],
  ["\xfd7zXZ\0", "an xz file", "Unpack it first."],
  ["PK\x03\x04", "a zip file (spreadsheets such as .xlsx are zip files, too)", "Unpack it, or save it as CSV."],
  ["PAR1", "a Parquet file", "Read it with readParquet."],
  ["ARROW1", "an Arrow file", "Read it with readArrow."],
];

/** Detects files of other kinds, and what spreadsheets write as "Unicode text", by their first bytes. */
function checkKind(file: SourceFile, head: Uint8Array): void {
  const beginning = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 8)).toString("latin1");
  const kind = OTHER_KINDS.find(([magic]) => beginning.startsWith(magic));
  if (kind !== undefined) {
    throw new SourceError(`readCsv: ${file.shown} is ${kind[1]}, not a CSV file. ${kind[2]}`, file.path);
  }
  const [first, second] = head;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : null;
  if (encoding === null) return;
  throw new SourceError(
    `readCsv: ${file.shown} is encoded in ${encoding.toUpperCase()}, not in UTF-8. Give encoding: "${encoding}".`,
    file.path,
  );
}

function hasRecord(text: string, given: GivenDialect): boolean {
  return (findDialect(text, false, given)?.records.length ?? 0) > 0;
}

async function packedHeads(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  compression: string | null,
  maxLineSize: Bytes | null,
): Promise<readonly Head[]> {
  const shape = [
    "columns={'line': 'VARCHAR'}",
    "auto_detect=false",
    "header=false",
    "delim=''",
    "quote=''",
    "escape=''",
    // Outside this mode the kernel refuses a carriage return inside quotes, if lines end without one.
    "strict_mode=false",
    ...lineArguments(limitsFor(maxLineSize)),
  ];
  const packing = compression === null ? [] : [`compression=${quoteText(compression)}`];
  const selects = files.map((file, i) => {
    const args = [pathListSql([file]), ...shape, ...packing, "hive_partitioning=false"];
    return `(SELECT ${i} AS file, line FROM read_csv(${args.join(", ")}) LIMIT ${LINES})`;
  });
  const rows = await engine.inspect(`SELECT file, coalesce(line, '') AS line FROM (${selects.join(" UNION ALL ")})`);
  const lines: string[][] = files.map(() => []);
  for (const { file, line } of rows) lines[Number(file)]?.push(String(line));
  return lines.map((own) => ({ text: own.map((line) => `${line}\n`).join(""), isWhole: own.length < LINES }));
}

/**
 * A file's dialect. It takes the first file's delimiter if that gives the same fields, or as many; otherwise its own is
 * found.
 */
export function dialectOf(head: Head, given: GivenDialect, first: FoundDialect | null): FoundDialect | null {
  if (first !== null) {
    const alike = findDialect(head.text, head.isWhole, { ...given, delimiter: first.dialect.delimiter });
    if (alike === null || isAlike(alike.records[0], first.records[0])) return alike;
  }
  return findDialect(head.text, head.isWhole, given);
}

function isAlike(record: CsvRecord | undefined, first: CsvRecord | undefined): boolean {
  if (record === undefined || first === undefined) return false;
  const width = first.fields.length;
  return record.fields.length === width && (width > 1 || record.fields[0] === first.fields[0]);
}
