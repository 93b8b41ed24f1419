/**
 * What happens to a row or batch for which the user's function throws: the task fails with a full report, or the row is
 * dropped and counted, or it goes to the task's dead-letter file.
 */
import { inspect } from "node:util";
import {
  FunctionError,
  isMemoryRefused,
  retold,
  SpillwayError,
  type Told,
  tell,
  ValueError,
} from "../../errors/index.ts";
import type { OnError } from "../../protocol/index.ts";
import { isError } from "../../realm/index.ts";
import { formatSize } from "../../units/index.ts";
import type { TaskScope } from "../link.ts";
import { framesOf, partsOf } from "../user-failure.ts";
import type { DeadLetters } from "./dead-letters.ts";

const PRINT_LIMIT = 200;
/** If a failing call is dropped as a whole, up to this many bytes of what it yields are held back. */
export const HELD_BYTES = 16 << 20;

export class Failures {
  constructor(
    readonly operator: string,
    private readonly onError: OnError,
    private readonly mapStack: (stack: string) => string,
    private readonly scope: TaskScope,
    private readonly letters: DeadLetters | null,
  ) {}

  /**
   * `row` is the index in this operator's input within the task. `handedOn`: how many rows of the call can no longer be
   * dropped. Returns only if the row is to be dropped.
   */
  row(thrown: unknown, index: number, row: unknown, handedOn = 0): void {
    if (isJudged(thrown)) throw thrown;
    if (handedOn > 0 || this.#fails(thrown)) throw this.#error(thrown, `row ${index}`, index, print(row), handedOn);
    this.scope.errored(1);
    this.letters?.add({ operator: this.operator, row: index, error: errorText(thrown), value: row });
  }

  /** Whether failures are dropped, instead of failing the task. */
  get drops(): boolean {
    return this.onError !== "fail";
  }

  /** Many rows, starting at `index`; `where` names them. */
  batch(thrown: unknown, index: number, rows: number, values: unknown, where: string, handedOn = 0): void {
    if (isJudged(thrown)) throw thrown;
    if (handedOn > 0 || this.#fails(thrown)) throw this.#error(thrown, where, null, null, handedOn);
    this.scope.errored(rows);
    this.letters?.add({ operator: this.operator, row: index, rows, error: errorText(thrown), value: values });
  }

  /** A value of the input that cannot be converted for the function: adds its place to the error. */
  unreadable(thrown: unknown, index: number): unknown {
    if (!(thrown instanceof ValueError)) return thrown;
    return new ValueError(`${this.operator}, row ${index}${this.#from()}: ${thrown.message}`, thrown.column);
  }

  /**
   * A refusal of memory is not the row's fault: with less memory in use it may succeed, so the task is run again. It is
   * the row's fault if nothing on the machine could give more.
   */
  #fails(thrown: unknown): boolean {
    return this.onError === "fail" || (isRefused(thrown) && !this.scope.blamesRows);
  }

  #from(): string {
    return this.scope.files.length === 0 ? "" : `, from ${listed(this.scope.files)}`;
  }

  #error(thrown: unknown, where: string, row: number | null, rowText: string | null, handedOn: number): FunctionError {
    const cause = tell(thrown, this.mapStack);
    const { name, said, stack, details } = this.#parts(thrown, cause);
    const lines = [
      `${this.operator} failed on ${where}${this.#from()}: ${isError(thrown) ? `${name}: ${said}` : `it threw ${said}, which is not an Error`}`,
      ...details,
      ...(rowText === null ? [] : [`  row: ${rowText}`]),
      ...framesOf(stack),
      ...this.#advice(thrown, handedOn),
    ];
    const options = { cause: retold(cause) };
    const { files } = this.scope;
    const error = new FunctionError(lines.join("\n"), this.operator, row, rowText, files, name, stack, options);
    judged.add(error);
    return error;
  }

  #parts(thrown: unknown, told: Told): ReturnType<typeof partsOf> {
    const nothing = { stack: null, details: [] };
    if (!isError(thrown)) return { name: typeof thrown, said: inspect(thrown, { depth: 2 }), ...nothing };
    // Our own errors (a row of another shape) have no line of the user's.
    return thrown instanceof SpillwayError ? { ...partsOf(told), ...nothing } : partsOf(told);
  }

  #advice(thrown: unknown, handedOn: number): readonly string[] {
    if (this.drops && handedOn > 0) {
      return [
        `It cannot be dropped: its call had already yielded ${handedOn} rows, which are handed on. The results of a call are held back up to ${formatSize(HELD_BYTES)}; yield less for each row, or catch the error in the function.`,
      ];
    }
    if (isRefused(thrown)) return [];
    return [`Give the function onError: "skip" or { deadLetter: path } to drop such rows.`];
  }
}

/** Failures that were already reported. Through a function around it, the same failure may come here again. */
const judged = new WeakSet<object>();

function isJudged(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && judged.has(thrown);
}

function isRefused(thrown: unknown): boolean {
  return isError(thrown) && isMemoryRefused(thrown.name, thrown.message);
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, 3).join(", ");
  return files.length > 3 ? `${shown} and ${files.length - 3} more files` : shown;
}

function errorText(thrown: unknown): string {
  if (!isError(thrown)) return inspect(thrown, { depth: 2 });
  const { name, said, details } = partsOf(tell(thrown, () => ""));
  return [`${name}: ${said}`, ...(thrown instanceof SpillwayError ? [] : details)].join("\n");
}

export function print(row: unknown): string {
  const text = inspect(row, {
    depth: 2,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: 80,
    maxArrayLength: 8,
  });
  return text.length > PRINT_LIMIT ? `${text.slice(0, PRINT_LIMIT)}…` : text;
}
