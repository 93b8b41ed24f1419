/**
 * Parquet cannot hold negative intervals. The kernel fails only when it writes one. The error names the columns, and
 * does not look like a failure to read.
 */
import { childFields, type DataType } from "../../arrow/index.ts";
import { KernelError, WriteError } from "../../errors/index.ts";
import type { Connection } from "../../kernel/index.ts";
import type { FileSink } from "../../protocol/index.ts";

const REFUSED = /do not support negative intervals/i;

/** `select` is what was being written. Null: the error has another cause. */
export function negativeInterval(
  error: unknown,
  connection: Connection,
  select: string,
  { directory }: Pick<FileSink, "directory">,
): WriteError | null {
  if (!(error instanceof KernelError) || !REFUSED.test(error.message)) return null;
  const fields = connection.describe(select).fields.filter(({ type }) => holdsInterval(type));
  const names = fields.map(({ name }) => JSON.stringify(name));
  const [example = '"span"'] = names;
  const which = names.length === 1 ? `the column ${example}` : `one of the columns ${names.join(", ")}`;
  return new WriteError(
    `writeParquet: ${directory} cannot be written: ${which} has a negative interval, which Parquet cannot store. Write it as text: withColumn(${example}, col(${example}).cast("VARCHAR")). Nothing was changed.`,
    directory,
  );
}

function holdsInterval(type: DataType): boolean {
  return type.kind === "interval" || childFields(type).some((field) => holdsInterval(field.type));
}
