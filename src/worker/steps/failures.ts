/**
 * What happens to a row or batch on which the user's function throws: the task fails with the whole story, or the
 * row is dropped and counted, or it goes to the dead-letter file of this task.
 */
import { inspect } from "node:util";
import { FunctionError, isMemoryRefused, SpillwayError, ValueError } from "../../errors/index.ts";
import type { OnError } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import type { TaskScope } from "../stage.ts";
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
   * `row` is the index in this operator's input within the task; `handedOn` is how many rows of its call cannot be dropped any
   * more. Returns only if the row is to be dropped.
   */
  row(thrown: unknown, index: number, row: unknown, handedOn = 0): void {
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
   * Memory that was refused is no fault of the row: with less beside it there may be enough, so its task is run again. It is where
   * nobody could give more.
   */
  #fails(thrown: unknown): boolean {
    return this.onError === "fail" || (isRefused(thrown) && !this.scope.blamesRows);
  }

  #from(): string {
    return this.scope.files.length === 0 ? "" : `, from ${listed(this.scope.files)}`;
  }

  #error(thrown: unknown, where: string, row: number | null, rowText: string | null, handedOn: number): FunctionError {
    const name = thrown instanceof Error ? thrown.name : typeof thrown;
    const said = thrown instanceof Error ? thrown.message : inspect(thrown, { depth: 2 });
    const stack = thrown instanceof Error && thrown.stack !== undefined ? this.#userStack(thrown) : null;
    const lines = [
      `${this.operator} failed on ${where}${this.#from()}: ${name}: ${said}`,
      ...(rowText === null ? [] : [`  row: ${rowText}`]),
      ...(stack === null ? [] : stack.split("\n").filter((line) => line.trimStart().startsWith("at "))),
      ...this.#advice(thrown, handedOn),
    ];
    return new FunctionError(lines.join("\n"), this.operator, row, rowText, this.scope.files, name, stack);
  }

  #advice(thrown: unknown, handedOn: number): readonly string[] {
    if (this.drops && handedOn > 0) {
      return [
        `It cannot be dropped: its call had yielded ${handedOn} rows before, which are handed on already. What a call yields is held back up to ${formatSize(HELD_BYTES)}; yield less for a row, or catch the error in the function.`,
      ];
    }
    if (isRefused(thrown)) return [];
    return [`Give the function onError: "skip" or { deadLetter: path } to go on without such rows.`];
  }

  /** Our own errors (a row of another shape) have no line of the user's. */
  #userStack(error: Error): string | null {
    if (error instanceof SpillwayError || error.stack === undefined) return null;
    return this.mapStack(error.stack);
  }
}

function isRefused(thrown: unknown): boolean {
  return thrown instanceof Error && isMemoryRefused(thrown.name, thrown.message);
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, 3).join(", ");
  return files.length > 3 ? `${shown} and ${files.length - 3} more files` : shown;
}

function errorText(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : inspect(thrown, { depth: 2 });
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
