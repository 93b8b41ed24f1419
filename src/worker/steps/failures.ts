/**
 * What happens to a row or batch on which the user's function throws: the task fails with the whole story, or the
 * row is dropped and counted, or it goes to the dead-letter file of this task.
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
import type { TaskScope } from "../stage.ts";
import { framesOf, partsOf } from "../user-failure.ts";
import type { DeadLetters } from "./dead-letters.ts";

const PRINT_LIMIT = 200;
/** What a call yields is held back so far, where a call that fails is dropped whole. */
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
   * `row` is the index in this operator's input within the task; `handedOn` is how many rows of its call cannot be
   * dropped any more. Returns only if the row is to be dropped.
   */
  row(thrown: unknown, index: number, row: unknown, handedOn = 0): void {
    if (isJudged(thrown)) throw thrown;
    if (handedOn > 0 || this.#fails(thrown)) throw this.#error(thrown, `row ${index}`, index, print(row), handedOn);
    this.scope.errored(1);
    this.letters?.add({ operator: this.operator, row: index, error: errorText(thrown), value: row });
  }

  /** Whether what fails is dropped, and not the task failed. */
  get drops(): boolean {
    return this.onError !== "fail";
  }

  /** Many rows, the first of them at `index`; `where` is how they are called. */
  batch(thrown: unknown, index: number, rows: number, values: unknown, where: string, handedOn = 0): void {
    if (isJudged(thrown)) throw thrown;
    if (handedOn > 0 || this.#fails(thrown)) throw this.#error(thrown, where, null, null, handedOn);
    this.scope.errored(rows);
    this.letters?.add({ operator: this.operator, row: index, rows, error: errorText(thrown), value: values });
  }

  /** A value of the input that cannot be given to the function: where it is. */
  unreadable(thrown: unknown, index: number): unknown {
    if (!(thrown instanceof ValueError)) return thrown;
    return new ValueError(`${this.operator}, row ${index}${this.#from()}: ${thrown.message}`, thrown.column);
  }

  /**
   * Memory that was refused is no fault of the row: with less beside it there may be enough, so its task is run again.
   * It is where nobody could give more.
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
      `${this.operator} failed on ${where}${this.#from()}: ${isError(thrown) ? `${name}: ${said}` : `it threw ${said}, which is no Error`}`,
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

/** Failures that have been told of: one that comes by here again, through a function around it, is not told of anew. */
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
