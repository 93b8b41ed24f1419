/**
 * Text files: one row a line, in the column `text`, without the end of the line. Small files are split in memory, where
 * kinds of line ends may even be mixed. All other files (large, compressed, or in other encodings) are streams of UTF-8
 * that the kernel's CSV reader cuts into lines, without delimiter and quotes.
 */
import { quoteText } from "../../arrow/index.ts";
import { type BadBytes, type Bytes, RETURN_MARK, type TextEncoding, type TextStream } from "../../protocol/index.ts";
import { cutAtLines, packingOf, unpacksZstd } from "../../text/index.ts";
import { oneOf, positiveInteger } from "../options.ts";
import { DEFAULT_LIMITS, type LineLimits, lineArguments, lineLimits, refusedLine } from "./csv-lines.ts";
import { ENCODINGS, encodingOf } from "./encodings.ts";
import type { SourceFile } from "./files.ts";
import { partStream, pathListSql, wholeFilesSql } from "./kernel-paths.ts";
import type { SqlFormat, TaskSlot } from "./sql-files.ts";

export interface TextOptions {
  /** "utf-8" (default), "latin-1", "windows-1252", "utf-16le" or "utf-16be". */
  readonly encoding?: TextEncoding;
  /**
   * Bytes that are invalid in the encoding: an error with file and line ("refuse", the default), or U+FFFD ("replace").
   */
  readonly badBytes?: BadBytes;
  /** "gzip", "zstd", "none". Default: from the file's name. */
  readonly compression?: "gzip" | "zstd" | "none";
  /**
   * The longest line in bytes, for files with a few very long lines. Default: 32 MB in files below that, otherwise
   * detected.
   */
  readonly maxLineSize?: number;
}

export const textOptionKeys = ["encoding", "badBytes", "compression", "maxLineSize"] as const;

interface TextSettings {
  readonly encoding: TextEncoding;
  readonly badBytes: BadBytes;
  readonly compression: string | null;
  readonly maxLineSize: Bytes | null;
}

const SPLIT_BELOW: Bytes = 32_000_000;

export function textSettings(options: TextOptions): TextSettings {
  const { encoding = "utf-8", badBytes = "refuse", compression, maxLineSize } = options;
  return {
    encoding: encodingOf("readText", encoding, ENCODINGS),
    badBytes: oneOf("readText", "badBytes", badBytes, ["replace", "refuse"]),
    compression:
      compression === undefined ? null : oneOf("readText", "compression", compression, ["gzip", "zstd", "none"]),
    maxLineSize: maxLineSize === undefined ? null : positiveInteger("readText", "maxLineSize", maxLineSize),
  };
}

export function textFormat(settings: TextSettings): SqlFormat {
  const packing = (file: SourceFile) => packingOf(file.path, settings.compression);
  const limits = new Map<string, LineLimits>();
  const limitsOf = ({ path }: SourceFile) => limits.get(path) ?? DEFAULT_LIMITS;
  return {
    operator: "readText",
    leavesOutRows: false,
    async columns(files) {
      for (const file of files) {
        if (isSmall(file, packing(file), settings)) continue;
        const isPacked = packing(file) !== null;
        limits.set(file.path, await lineLimits(file, settings.maxLineSize, isPacked));
      }
      return [{ name: "text", type: "VARCHAR" }];
    },
    isStream: (file) => !isSmall(file, packing(file), settings),
    takesContents: true,
    packing: (file) => (isByKernel(packing(file), settings) ? packing(file) : null),
    refusedLine: (file) => refusedLine(limitsOf(file)),
    async cuts(file, points) {
      return packing(file) === null ? cutAtLines(file.path, file.bytes, points, settings.encoding) : [];
    },
    tableSql(files, _columns, includePaths, slot) {
      const parts: string[] = [];
      let small: SourceFile[] = [];
      const flush = () => {
        if (small.length > 0) parts.push(splitInMemory(small, includePaths, slot));
        small = [];
      };
      for (const file of files) {
        if (file.bytes === 0) continue;
        if (isSmall(file, packing(file), settings)) {
          small.push(file);
          continue;
        }
        flush();
        parts.push(streamed(file, settings, limitsOf(file), includePaths, slot));
      }
      flush();
      if (parts.length > 0) return `(${parts.join(" UNION ALL ")})`;
      return `(SELECT ''::VARCHAR AS "text"${includePaths ? ", ''::VARCHAR AS path" : ""} WHERE false)`;
    },
  };
}

/** Whether the file is read in one go, together with others. */
function isSmall(file: SourceFile, packing: string | null, { encoding, badBytes }: TextSettings): boolean {
  const isAsIs = packing === null && encoding === "utf-8" && badBytes === "refuse";
  return isAsIs && file.bytes < SPLIT_BELOW && file.part === undefined;
}

/** Whether the kernel unpacks the file, because this Node cannot. */
function isByKernel(
  packing: TextStream["packing"],
  { encoding, badBytes }: Pick<TextSettings, "encoding" | "badBytes">,
): boolean {
  return packing === "zstd" && !unpacksZstd && encoding === "utf-8" && badBytes === "refuse";
}

function splitInMemory(files: readonly SourceFile[], includePaths: boolean, slot: TaskSlot): string {
  const table = slot.holdsContents ? slot.takeContents("text") : wholeFilesSql("read_text", files);
  // The byte order mark of UTF-8 at the beginning is not part of the text.
  const content = "CASE WHEN prefix(content, chr(65279)) THEN substr(content, 2) ELSE content END";
  const whole = `SELECT filename, replace(${content}, chr(13) || chr(10), chr(10)) AS content FROM ${table}`;
  // The end of the last line does not start another line.
  const lines =
    "string_split(CASE WHEN suffix(content, chr(10)) THEN left(content, length(content) - 1) ELSE content END, chr(10))";
  const path = includePaths ? ", filename AS path" : "";
  return `(SELECT unnest(${lines}) AS "text"${path} FROM (${whole}) WHERE content <> '')`;
}

/** A code point that is no character, so that no text contains it. */
const DELIMITER = "\u{10FFFE}";

function streamed(
  file: SourceFile,
  { encoding, badBytes, compression }: TextSettings,
  limits: LineLimits,
  includePaths: boolean,
  slot: TaskSlot,
): string {
  const packing = packingOf(file.path, compression);
  // The limits of a plain file come from its own lines, so the kernel itself refuses a line that is too long.
  const refused = packing === null && encoding === "utf-8" ? {} : { refusedLine: refusedLine(limits) };
  const asked = { encoding, badBytes, packing, marksReturns: true };
  const stream: TextStream = { ...partStream(file, "readText"), ...asked, ...refused };
  const byKernel = isByKernel(packing, { encoding, badBytes });
  const options = [
    ...(byKernel ? [pathListSql([file]), "compression='zstd'"] : [slot.take(stream)]),
    "columns={'text': 'VARCHAR'}",
    "auto_detect=false",
    "header=false",
    `delim=${quoteText(DELIMITER)}`,
    "quote=''",
    "escape=''",
    "force_not_null=['text']",
    "hive_partitioning=false",
    ...lineArguments(limits),
  ];
  const path = includePaths ? `, ${quoteText(file.path)} AS path` : "";
  return `(SELECT replace("text", ${quoteText(RETURN_MARK)}, chr(13)) AS "text"${path} FROM read_csv(${options.join(", ")}))`;
}
