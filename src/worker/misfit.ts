/**
 * Turns a value that its column's type cannot hold into an error with its file and, for text files, its line. The
 * kernel names the file, the column and the text; the file is read again up to the line that contains it.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { MISFIT, type Misfit, RecordScanner } from "../csv/index.ts";
import { KernelError, SourceError } from "../errors/index.ts";
import { packingOf, textOf } from "../text/index.ts";

const FOUND = new RegExp(`^Invalid Input Error: ${MISFIT}(.*)\\n(.*)$`);
/** How much of a text the kernel reports. */
const TEXT_TOLD = 200;

export async function misfitError(error: unknown): Promise<SourceError | null> {
  if (!(error instanceof KernelError)) return null;
  const [, about, facts] = FOUND.exec(error.message) ?? [];
  if (about === undefined || facts === undefined) return null;
  const misfit: Misfit = JSON.parse(about);
  const { file, text }: { readonly file: string; readonly text: string } = JSON.parse(facts);
  const line = await lineOf(file, text, misfit).catch(() => null);
  const place = line === null ? file : `${file}, line ${line}`;
  return new SourceError(`${misfit.operator}: ${place}: ${JSON.stringify(text)} ${reason(misfit)}`, file);
}

function reason({ column, type, declared, dialect }: Misfit): string {
  if (dialect === null) {
    return declared
      ? `does not fit column "${column}", which the schema declares as ${type}. Declare a type that holds it, such as VARCHAR.`
      : `does not fit column "${column}", which is ${type} because of other files. Declare a type that holds the values of all files: schema: { ${JSON.stringify(column)}: "VARCHAR" }, or a DECIMAL.`;
  }
  return declared
    ? `does not fit column "${column}", which the schema declares as ${type}. Declare a type that holds it, such as VARCHAR, or drop such rows with ignoreErrors.`
    : `does not fit column "${column}", which is ${type} in the sampled rows. Declare its type: schema: { ${JSON.stringify(column)}: "VARCHAR" }, sample more rows with sampleSize, or drop such rows with ignoreErrors.`;
}

/** Null if no record contains it (the file may have changed since). */
async function lineOf(file: string, text: string, misfit: Misfit): Promise<number | null> {
  const { operator, index, dialect, column, encoding = "utf-8" } = misfit;
  if (dialect === null) return null;
  if (dialect === "json") return jsonLineOf(file, text, column);
  const scanner = new RecordScanner(dialect, dialect.above);
  const { size: end } = await stat(file);
  const packing = packingOf(file, null);
  const whole = {
    operator,
    path: file,
    start: 0,
    end,
    encoding,
    packing,
    badBytes: "replace",
    marksReturns: false,
  } as const;
  const utf8 = new TextDecoder();
  const lineIn = (piece: string, isLast: boolean) =>
    scanner.push(piece, isLast).find(({ fields }) => [...(fields[index] ?? "")].slice(0, TEXT_TOLD).join("") === text)
      ?.line;
  for await (const piece of textOf(whole)) {
    const line = lineIn(utf8.decode(piece, { stream: true }), false);
    if (line !== undefined) return line;
  }
  return lineIn("", true) ?? null;
}

/** The first line that contains both the key and the value; null in a file that does not have one value a line. */
async function jsonLineOf(file: string, text: string, column: string): Promise<number | null> {
  const bytes = createReadStream(file);
  const input = /\.gz$/i.test(file) ? bytes.pipe(createGunzip()) : bytes;
  let line = 0;
  try {
    for await (const row of createInterface({ input })) {
      line++;
      if (row.includes(JSON.stringify(column)) && row.includes(text)) return line;
    }
    return null;
  } finally {
    bytes.destroy();
  }
}
