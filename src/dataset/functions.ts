/**
 * Users' functions as plan nodes. They are captured at once, so that the error for a function that cannot travel is
 * thrown where the function was given.
 */
import { resolve } from "node:path";
import type { ValueOptions } from "../arrow/index.ts";
import { type CaptureOptions, captureFunction } from "../closure/index.ts";
import { OptionError, WriteError } from "../errors/index.ts";
import { localPath, notLocal, whyNotMade } from "../files/index.ts";
import { type FunctionNode, functionNode, type Plan } from "../plan/index.ts";
import { type FunctionOptions, MAX_IN_FLIGHT, type OnError, type ResourceRequest } from "../protocol/index.ts";
import { parseSize } from "../units/index.ts";
import { type CancelOptions, cancelKeys } from "./consume/cancellation.ts";
import { declaredColumns } from "./declared-types.ts";
import { amount, checkKeys, describe, oneOf, positiveInteger, text, textList, wholeNumber } from "./options.ts";

/** Options of every function. */
export interface RowFunctionOptions extends ValueOptions {
  /**
   * The columns that the function reads; only these are read from files. Default: found out from its source where
   * possible.
   */
  readonly columns?: readonly string[];
  /** How many rows of an async function are under way at once in a worker. Default 16. */
  readonly maxInFlight?: number;
  /** What happens to a row for which the function throws. Default "fail". */
  readonly onError?: OnError;
  /** Types of result columns, in SQL's spelling; other types are inferred. */
  readonly schema?: Readonly<Record<string, string>>;
  /** How many workers run it at once. Default: all. */
  readonly concurrency?: number | { readonly min: number; readonly max: number };
  /** Cores that each of its tasks takes; fractions are allowed. Default 1. */
  readonly numCpus?: number;
  /** GPUs that each of its tasks has to itself: a whole number, or a fraction of one GPU. Default 0. */
  readonly numGpus?: number;
  /** Memory that each of its tasks needs, such as "4 GiB", out of the session's. Default: no request. */
  readonly memory?: number | string;
  /** Small blocks are combined until a task has this many rows. Default 1. */
  readonly batchSize?: number;
  /** Retries of a task whose worker died. Default: the session's setting. */
  readonly maxRetries?: number;
  /** Retries of a task that ran out of memory, each with a smaller demand. Default: the session's setting. */
  readonly maxOomRetries?: number;
  /** Heap profiles of its tasks, one file for each worker. Default false. */
  readonly profile?: boolean;
}

export interface BatchFunctionOptions extends RowFunctionOptions {
  /** Rows in a batch; the last one may have fewer. Default 1024. */
  readonly batchSize?: number;
  readonly batchFormat?: "columns" | "rows" | "arrow";
}

const rowKeys = [
  "columns",
  "maxInFlight",
  "onError",
  "schema",
  "concurrency",
  "numCpus",
  "numGpus",
  "memory",
  "batchSize",
  "maxRetries",
  "maxOomRetries",
  "profile",
  "int64",
  "decimal",
  "timestamp",
];
const batchKeys = [...rowKeys, "batchFormat", "constructorArgs"];
const groupKeys = [...batchKeys, "stream"];

interface Given extends BatchFunctionOptions {
  readonly constructorArgs?: readonly unknown[];
  readonly stream?: boolean;
}

const takesClass = (form: FunctionNode["form"]) => form === "mapBatches" || form === "mapGroups";

export function functionOver(
  input: Plan,
  form: FunctionNode["form"],
  fn: unknown,
  options: Given,
  keys?: readonly string[],
): FunctionNode {
  checkKeys(form, options, form === "mapGroups" ? groupKeys : form === "mapBatches" ? batchKeys : rowKeys);
  if (typeof fn !== "function") throw new OptionError(`${form}: give a function, not ${describe(fn)}.`);
  const { constructorArgs, columns, stream = false } = options;
  if (typeof stream !== "boolean")
    throw new OptionError(`${form}: stream is ${describe(stream)}; it must be true or false.`);
  if (constructorArgs !== undefined && !Array.isArray(constructorArgs))
    throw new OptionError(`${form}: constructorArgs is ${describe(constructorArgs)}; it must be an array.`);
  const gives = givenBy(form, options, stream);
  const captured = captureFunction(fn, {
    operator: form,
    ...(constructorArgs === undefined ? {} : { constructorArgs }),
    ...(gives === null ? {} : { gives }),
  });
  if (captured.isClass && !takesClass(form)) {
    throw new OptionError(`${form}: only mapBatches and mapGroups take a class. Give a function here.`);
  }
  if (!captured.isClass && constructorArgs !== undefined) {
    throw new OptionError(`${form}: constructorArgs are for a class; a function captures the variables that it uses.`);
  }
  const declared = columns === undefined ? null : textList(form, "columns", columns);
  return functionNode({
    input,
    form,
    fn: {
      payload: captured.payload,
      name: captured.name,
      isClass: captured.isClass,
      columns: declared ?? (stream ? null : captured.columns),
      columnsDeclared: declared !== null,
      returns: captured.returns,
    },
    options: {
      ...checkedOptions(form, options),
      ...(captured.passes === null ? {} : { passes: captured.passes }),
      ...(keys === undefined ? {} : { keys, stream }),
    },
    request: checkedRequest(form, options),
    concurrency: checkedConcurrency(form, options.concurrency),
    maxRetries: retries(form, "maxRetries", options.maxRetries),
    maxOomRetries: retries(form, "maxOomRetries", options.maxOomRetries),
  });
}

/** Null: the session's setting. */
function retries(form: string, name: string, times: number | undefined): number | null {
  return times === undefined ? null : wholeNumber(form, name, times);
}

/**
 * The form of what a call returns, for finding columns that pass through the function unchanged. Null for a filter: its
 * rows are never rebuilt.
 */
function givenBy(
  form: FunctionNode["form"],
  { batchFormat = "columns" }: BatchFunctionOptions,
  isStream: boolean,
): NonNullable<CaptureOptions["gives"]> | null {
  if (form === "map") return "row";
  if (form === "flatMap") return "rows";
  if (form === "filter") return null;
  if (batchFormat === "arrow" || isStream) return "table";
  if (batchFormat === "rows") return "row batch";
  return form === "mapBatches" ? "batch" : "group";
}

function checkedOptions(form: FunctionNode["form"], options: BatchFunctionOptions): FunctionOptions {
  const { batchFormat = "columns", maxInFlight = MAX_IN_FLIGHT, onError = "fail", schema } = options;
  const { profile = false } = options;
  if (typeof profile !== "boolean")
    throw new OptionError(`${form}: profile is ${describe(profile)}; it must be true or false.`);
  const { batchSize = takesClass(form) ? 1024 : 1 } = options;
  return {
    batchSize: positiveInteger(form, "batchSize", batchSize),
    batchFormat: oneOf(form, "batchFormat", batchFormat, ["columns", "rows", "arrow"]),
    maxInFlight: positiveInteger(form, "maxInFlight", maxInFlight),
    onError: checkedOnError(form, onError),
    ...checkedValues(form, options),
    ...(schema === undefined ? {} : { schema: checkedSchema(form, schema) }),
    ...(profile ? { profile } : {}),
  };
}

export const valueKeys = ["int64", "decimal", "timestamp"] as const;

/** How values are converted to JavaScript, checked; only the options that were given. */
export function checkedValues(operator: string, { int64, decimal, timestamp }: ValueOptions): ValueOptions {
  return {
    ...(int64 === undefined ? {} : { int64: oneOf(operator, "int64", int64, ["number", "bigint"]) }),
    ...(decimal === undefined ? {} : { decimal: oneOf(operator, "decimal", decimal, ["number", "string"]) }),
    ...(timestamp === undefined ? {} : { timestamp: oneOf(operator, "timestamp", timestamp, ["date", "bigint"]) }),
  };
}

/** Like `checkedValues`, for consuming methods without other options. */
export function onlyValues(operator: string, options: ValueOptions & CancelOptions): ValueOptions {
  checkKeys(operator, options, [...valueKeys, ...cancelKeys]);
  return checkedValues(operator, options);
}

function checkedOnError(form: string, onError: OnError): OnError {
  if (onError === "fail" || onError === "skip") return onError;
  if (typeof onError === "object" && onError !== null && "deadLetter" in onError) {
    const given = text(form, "onError.deadLetter", onError.deadLetter);
    const path = localPath(given);
    if (path === null) throw new OptionError(`${form}: onError.deadLetter ${notLocal(given, "written")}`);
    // Resolved here, in the program, because the path is relative to its working directory.
    const directory = resolve(path);
    const why = whyNotMade(directory);
    if (why === null) return { deadLetter: directory };
    throw new WriteError(`${form}: onError.deadLetter: ${directory} cannot be made: ${why}.`, directory);
  }
  throw new OptionError(`${form}: onError is ${describe(onError)}; it must be "fail", "skip" or { deadLetter: path }.`);
}

/** Has no prototype: a column may be called "constructor" and have no declared type. */
function checkedSchema(form: string, schema: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const checked: Record<string, string> = Object.create(null);
  for (const { name, text } of declaredColumns(form, schema)) checked[name] = text;
  return checked;
}

function checkedRequest(
  form: string,
  { numCpus = 1, numGpus = 0, memory = 0 }: Pick<RowFunctionOptions, "numCpus" | "numGpus" | "memory">,
): ResourceRequest {
  const gpu = amount(form, "numGpus", numGpus);
  if (gpu > 1 && !Number.isInteger(gpu)) {
    throw new OptionError(`${form}: numGpus is ${gpu}; it must be a whole number, or a fraction of one GPU (below 1).`);
  }
  return { cpu: amount(form, "numCpus", numCpus), gpu, memory: parseSize(memory, { name: `${form}: memory` }) };
}

function checkedConcurrency(form: string, concurrency: RowFunctionOptions["concurrency"]): FunctionNode["concurrency"] {
  if (concurrency === undefined) return null;
  if (typeof concurrency === "number") {
    const workers = positiveInteger(form, "concurrency", concurrency);
    return { min: workers, max: workers };
  }
  checkKeys(`${form}: concurrency`, concurrency, ["min", "max"]);
  const min = positiveInteger(form, "concurrency.min", concurrency.min);
  const max = positiveInteger(form, "concurrency.max", concurrency.max);
  if (min > max) throw new OptionError(`${form}: concurrency.min (${min}) is above concurrency.max (${max}).`);
  return { min, max };
}
