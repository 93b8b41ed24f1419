/** The beginnings of CSV files as text: read here where they are plain, by the kernel where they are compressed. */
import { open } from "node:fs/promises";
import { quoteText } from "../../arrow/index.ts";
import { type CsvRecord, type FoundDialect, findDialect, type GivenDialect } from "../../csv/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { messageOf } from "../../realm/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";
import { pathListSql } from "./kernel-paths.ts";

interface Head {
  readonly text: string;
  readonly isWhole: boolean;
}

/** Enough for most headers, and for a hundred rows to judge by. */
const FIRST: Bytes = 32 * 1024;
const LONGEST_LINE: Bytes = 2 ** 29;
const OPEN_AT_ONCE = 16;
const FILES_PER_QUERY = 64;
const LINES = 200;

/** Of every file, in their order. */
export async function headsOf(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  given: GivenDialect,
  compression: string | null,
): Promise<readonly Head[]> {
  const heads = new Map<SourceFile, Head>();
  const packed = files.filter((file) => isPacked(file, compression));
  const plain = files.filter((file) => !isPacked(file, compression));
  const waiting = plain.values();
  const readSome = async () => {
    for (const file of waiting) heads.set(file, await plainHead(file, given));
  };
  await Promise.all(Array.from({ length: OPEN_AT_ONCE }, readSome));
  for (let at = 0; at < packed.length; at += FILES_PER_QUERY) {
    const some = packed.slice(at, at + FILES_PER_QUERY);
    const found = await packedHeads(engine, some, compression);
    some.forEach((file, i) => {
      heads.set(file, found[i] ?? { text: "", isWhole: true });
    });
  }
  return files.map((file) => heads.get(file) ?? { text: "", isWhole: true });
}

export function isPacked(file: SourceFile, compression: string | null): boolean {
  return compression === null || compression.startsWith("auto")
    ? /\.(gz|zst)$/i.test(file.path)
    : compression !== "none" && compression !== "uncompressed";
}

/** Until a record is there. */
async function plainHead(file: SourceFile, given: GivenDialect): Promise<Head> {
  const handle = await open(file.path, "r").catch((error: unknown) => {
    throw new SourceError(`readCsv: ${file.shown} cannot be read: ${messageOf(error)}`, file.path);
  });
  try {
    for (let size = FIRST; ; size *= 8) {
      const bytes = Buffer.allocUnsafe(Math.min(size, file.bytes + 1));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      checkEncoding(file, bytes.subarray(0, bytesRead));
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

/** Of what spreadsheets write as "Unicode text" the first two bytes say it. */
function checkEncoding(file: SourceFile, head: Uint8Array): void {
  const [first, second] = head;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : null;
  if (encoding === null) return;
  throw new SourceError(
    `readCsv: ${file.shown} is encoded in ${encoding.toUpperCase()}, but readCsv reads UTF-8. Convert it (iconv -f ${encoding} -t utf-8), or read its lines with readText(…, { encoding: "${encoding}" }).`,
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
): Promise<readonly Head[]> {
  const shape = [
    "columns={'line': 'VARCHAR'}",
    "auto_detect=false",
    "header=false",
    "delim=''",
    "quote=''",
    "escape=''",
    // A carriage return inside of quotes is refused else, where lines end without one.
    "strict_mode=false",
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
 * A file's dialect: the first file's delimiter, where its first record has the same fields, or as many; else its own.
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
