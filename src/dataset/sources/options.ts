/** The options that every reader takes, checked. */
import { OptionError } from "../../errors/index.ts";
import { checkTypeName } from "../../plan/index.ts";
import { checkKeys, positiveInteger, textList } from "../options.ts";

export interface ReadOptions<Name extends string = string> {
  /** Read only these columns. */
  readonly columns?: readonly Name[];
  /** Cut the read into this many tasks (fewer if there are fewer rows). Default: by size and number of workers. */
  readonly overrideNumBlocks?: number;
  /** Types by column name, in SQL's spelling; the other columns keep the type that is found. */
  readonly schema?: Readonly<Record<string, string>>;
  /**
   * Read the columns of all files; a column that a file lacks is null there. Default: differing columns are an error.
   */
  readonly unionByName?: boolean;
  /** Add a column `path` with the file of each row. */
  readonly includePaths?: boolean;
}

export const readOptionKeys = ["columns", "overrideNumBlocks", "schema", "unionByName", "includePaths"] as const;

export interface CheckedReadOptions {
  readonly columns: readonly string[] | null;
  readonly overrideNumBlocks: number | null;
  readonly schema: Readonly<Record<string, string>>;
  readonly unionByName: boolean;
  readonly includePaths: boolean;
}

export function checkReadOptions(
  operator: string,
  options: ReadOptions,
  keys: readonly string[] = readOptionKeys,
): CheckedReadOptions {
  checkKeys(operator, options, keys);
  const { columns, overrideNumBlocks, schema, unionByName = false, includePaths = false } = options;
  if (typeof includePaths !== "boolean") throw new OptionError(`${operator}: includePaths must be true or false.`);
  if (typeof unionByName !== "boolean") throw new OptionError(`${operator}: unionByName must be true or false.`);
  return {
    columns: columns === undefined ? null : textList(operator, "columns", columns),
    overrideNumBlocks:
      overrideNumBlocks === undefined ? null : positiveInteger(operator, "overrideNumBlocks", overrideNumBlocks),
    schema: checkSchema(operator, schema),
    unionByName,
    includePaths,
  };
}

/**
 * The options for a stretch of this many splits: if the user asked for a number of tasks, the stretch has as many as it
 * has splits.
 */
export function ofStretch(options: CheckedReadOptions, splits: number): CheckedReadOptions {
  return { ...options, overrideNumBlocks: options.overrideNumBlocks === null ? null : splits };
}

/** Has no prototype: a column may be called "constructor" and have no declared type. */
function checkSchema(operator: string, schema: ReadOptions["schema"] = {}): Readonly<Record<string, string>> {
  if (typeof schema !== "object" || schema === null) {
    throw new OptionError(`${operator}: schema must be an object of column names and SQL types: { price: "DOUBLE" }.`);
  }
  const checked: Record<string, string> = Object.create(null);
  for (const [name, type] of Object.entries(schema)) {
    checked[name] = checkTypeName(String(type), `${operator}: schema.${name}`);
  }
  return checked;
}
