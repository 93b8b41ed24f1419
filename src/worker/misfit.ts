/**
 * A value that its column's type cannot hold, as an error with its file, and the line where the file is text. The
 * kernel says which file, column and text; the file is read once more up to the line that has it.
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { MISFIT, type Misfit, RecordScanner } from "../csv/index.ts";
import { KernelError, SourceError } from "../errors/index.ts";

const FOUND = new RegExp(`^Invalid Input Error: ${MISFIT}(.*)\\n(.*)$`);
/** As much of a text as the kernel tells. */
const TEXT_TOLD = 200;
const PIECE = 2 ** 20;

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

/** Null where no record has it, as in a file that has changed since. */
async function lineOf(file: string, text: string, { index, dialect, column }: Misfit): Promise<number | null> {
  if (dialect === null) return null;
  if (dialect === "json") return jsonLineOf(file, text, column);
  const scanner = new RecordScanner(dialect, dialect.above);
  const bytes = createReadStream(file, { highWaterMark: PIECE });
  const plain = /\.gz$/i.test(file) ? bytes.pipe(createGunzip()) : bytes;
  plain.setEncoding("utf8");
  const lineIn = (piece: string, isLast: boolean) =>
    scanner.push(piece, isLast).find(({ fields }) => [...(fields[index] ?? "")].slice(0, TEXT_TOLD).join("") === text)
      ?.line;
  try {
    for await (const piece of plain) {
      const line = lineIn(String(piece), false);
      if (line !== undefined) return line;
    }
    return lineIn("", true) ?? null;
  } finally {
    bytes.destroy();
  }
}

/** The first line that has both the key and the value; null in files that are not a value a line. */
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
