/** Combines rows that a function returned into pieces for the next link. */
import { type DeclaredTypes, RowBuilder } from "../../arrow/index.ts";
import type { Link } from "../link.ts";
import { PieceRows } from "./piece-rows.ts";

/** Results are handed on in pieces that stay in the processor's cache. */
const PIECE_ROWS = 4096;
const PIECE_BYTES = 1 << 20;
/** Sizes are checked every few rows, because a check costs 15 ns. */
const CHECK_ROWS = 16;

export class RowOutput {
  /** No more rows are wanted. */
  enough = false;
  #builder: RowBuilder;
  readonly #piece: PieceRows;
  /** At how many rows the size is checked next. */
  #checkAt = 0;

  constructor(
    private readonly declared: DeclaredTypes | undefined,
    private readonly next: Link,
  ) {
    this.#builder = new RowBuilder(declared);
    this.#piece = new PieceRows(next, PIECE_ROWS);
    this.lookLater();
  }

  get rows(): number {
    return this.#builder.rows;
  }

  get byteLength(): number {
    return this.#builder.byteLength;
  }

  /** Time to check whether the rows are a piece. */
  get isDue(): boolean {
    return this.#builder.rows >= this.#checkAt;
  }

  /** The rows are certainly all that is wanted. */
  get suffices(): boolean {
    return this.next.takesEach && this.#builder.rows >= this.next.wanted;
  }

  /** Not a piece yet: the next check is a few rows away. */
  lookLater(): void {
    const { rows } = this.#builder;
    const soon = rows + CHECK_ROWS;
    this.#checkAt = rows < this.#piece.rows ? Math.min(this.#piece.rows, soon) : soon;
  }

  append(row: unknown): void {
    this.#builder.append(row);
  }

  /** Forgets all rows except the first ones. */
  truncate(rows: number): void {
    this.#builder.truncate(rows);
    this.lookLater();
  }

  /** From here on, columns that pass through have these types. No earlier rows may be left. */
  restart(passed: DeclaredTypes): void {
    this.#builder = new RowBuilder(this.declared, passed);
    this.lookLater();
  }

  /** Hands on the rows once they are a piece. */
  handOnFull(): void | Promise<void> {
    const builder = this.#builder;
    if (builder.rows >= this.#piece.rows || builder.byteLength >= PIECE_BYTES) return this.handOn();
    this.lookLater();
  }

  handOn(): void | Promise<void> {
    if (this.#builder.rows === 0) return;
    const wait = this.next.push(this.#builder.finish());
    if (wait !== undefined) return wait.then(() => this.#handedOn());
    this.#handedOn();
  }

  #handedOn(): void {
    this.enough = this.next.wanted <= 0;
    this.#piece.handedOn();
    this.lookLater();
  }
}
