/**
 * Text files, a row a line, in the column `text`, without the line's end. Small files are split in memory, where line
 * ends may even be mixed. All others, large, compressed or in other encodings, are streams of UTF-8 that the kernel's
 * CSV reader cuts into lines, with nothing to separate or quote.
 */
import { quoteText } from "../../arrow/index.ts";
import { OptionError } from "../../errors/index.ts";
import { type BadBytes, type Bytes, RETURN_MARK, type TextEncoding, type TextStream } from "../../protocol/index.ts";
import { cutAtLines, packingOf, unpacksZstd } from "../../text/index.ts";
import { describe, oneOf, positiveInteger } from "../options.ts";
import { lineArguments, lineLimits } from "./csv-lines.ts";
import type { SourceFile } from "./files.ts";
import { partStream, pathListSql, wholeFilesSql } from "./kernel-paths.ts";
import type { SqlFormat, TaskSlot } from "./sql-files.ts";

export interface TextOptions {
  /** "utf-8" (default), "latin-1", "windows-1252", "utf-16le" or "utf-16be". */
  readonly encoding?: TextEncoding;
  /**
   * Bytes that are no text in the encoding: an error with file and line ("refuse", the default), or U+FFFD ("replace").
   */
  readonly badBytes?: BadBytes;
  /** "gzip", "zstd", "none". Default: by the file's name. */
  readonly compression?: "gzip" | "zstd" | "none";
  /**
   * The longest line in bytes, for files that have a few very long ones. Default: 32 MB in files below that, else as
   * seen.
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

const ENCODINGS: readonly TextEncoding[] = ["utf-8", "latin-1", "windows-1252", "utf-16le", "utf-16be"];
/** Other names that are in use for them. */
const ALSO_CALLED: Readonly<Record<string, TextEncoding>> = {
  utf8: "utf-8",
  latin1: "latin-1",
  "iso-8859-1": "latin-1",
  cp1252: "windows-1252",
  "utf-16": "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
};
const SPLIT_BELOW: Bytes = 32_000_000;

export function textSettings(options: TextOptions): TextSettings {
  const { encoding = "utf-8", badBytes = "refuse", compression, maxLineSize } = options;
  if (typeof encoding !== "string")
    throw new OptionError(`readText: encoding is ${describe(encoding)}; it must be a text.`);
  const name = encoding.toLowerCase();
  return {
    encoding: oneOf("readText", "encoding", ALSO_CALLED[name] ?? name, ENCODINGS),
    badBytes: oneOf("readText", "badBytes", badBytes, ["replace", "refuse"]),
    compression:
      compression === undefined ? null : oneOf("readText", "compression", compression, ["gzip", "zstd", "none"]),
    maxLineSize: maxLineSize === undefined ? null : positiveInteger("readText", "maxLineSize", maxLineSize),
  };
}

export function textFormat(settings: TextSettings): SqlFormat {
  const packing = (file: SourceFile) => packingOf(file.path, settings.compression);
  const limits = new Map<string, readonly string[]>();
  return {
    operator: "readText",
    leavesOutRows: false,
    async columns(files) {
      for (const file of files) {
        if (isSmall(file, packing(file), settings)) continue;
        const isPacked = packing(file) !== null;
        limits.set(file.path, lineArguments(await lineLimits(file, settings.maxLineSize, isPacked)));
      }
      return [{ name: "text", type: "VARCHAR" }];
    },
    isStream: (file) => !isSmall(file, packing(file), settings),
    takesContents: true,
    packing: (file) => (isByKernel(packing(file), settings) ? packing(file) : null),
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
        parts.push(streamed(file, settings, limits.get(file.path) ?? [], includePaths, slot));
      }
      flush();
      if (parts.length > 0) return `(${parts.join(" UNION ALL ")})`;
      return `(SELECT ''::VARCHAR AS "text"${includePaths ? ", ''::VARCHAR AS path" : ""} WHERE false)`;
    },
  };
}

/** Read in one go, with others. */
function isSmall(file: SourceFile, packing: string | null, { encoding, badBytes }: TextSettings): boolean {
  const isAsIs = packing === null && encoding === "utf-8" && badBytes === "refuse";
  return isAsIs && file.bytes < SPLIT_BELOW && file.part === undefined;
}

/** Where this Node does not unpack it. */
function isByKernel(
  packing: TextStream["packing"],
  { encoding, badBytes }: Pick<TextSettings, "encoding" | "badBytes">,
): boolean {
  return packing === "zstd" && !unpacksZstd && encoding === "utf-8" && badBytes === "refuse";
}

function splitInMemory(files: readonly SourceFile[], includePaths: boolean, slot: TaskSlot): string {
  const table = slot.holdsContents ? slot.takeContents("text") : wholeFilesSql("read_text", files);
  // The mark of UTF-8 at the beginning is no text.
  const content = "CASE WHEN prefix(content, chr(65279)) THEN substr(content, 2) ELSE content END";
  const whole = `SELECT filename, replace(${content}, chr(13) || chr(10), chr(10)) AS content FROM ${table}`;
  // The last line's end does not begin another line.
  const lines =
    "string_split(CASE WHEN suffix(content, chr(10)) THEN left(content, length(content) - 1) ELSE content END, chr(10))";
  const path = includePaths ? ", filename AS path" : "";
  return `(SELECT unnest(${lines}) AS "text"${path} FROM (${whole}) WHERE content <> '')`;
}

/** No text has this character, which is none. */
const DELIMITER = "\u{10FFFE}";

function streamed(
  file: SourceFile,
  { encoding, badBytes, compression }: TextSettings,
  limits: readonly string[],
  includePaths: boolean,
  slot: TaskSlot,
): string {
  const packing = packingOf(file.path, compression);
  const stream: TextStream = { ...partStream(file), encoding, badBytes, packing, marksReturns: true };
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
    ...limits,
  ];
  const path = includePaths ? `, ${quoteText(file.path)} AS path` : "";
  return `(SELECT replace("text", ${quoteText(RETURN_MARK)}, chr(13)) AS "text"${path} FROM read_csv(${options.join(", ")}))`;
}
