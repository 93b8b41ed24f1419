/** Rows that a function gave, put together to pieces for the next stage. */
import { type DeclaredTypes, RowBuilder } from "../../arrow/index.ts";
import type { Stage } from "../stage.ts";
import { PieceRows } from "./piece-rows.ts";

/** Results are handed on in pieces that stay in the processor's cache. */
const PIECE_ROWS = 4096;
const PIECE_BYTES = 1 << 20;
/** Sizes are looked at every few rows, because looking costs 15 ns. */
const CHECK_ROWS = 16;

export class RowOutput {
  /** No more rows are wanted. */
  enough = false;
  #builder: RowBuilder;
  readonly #piece: PieceRows;
  /** At how many rows the size is looked at next. */
  #checkAt = 0;

  constructor(
    private readonly declared: DeclaredTypes | undefined,
    private readonly next: Stage,
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

  /** Time to look whether what is there is a piece. */
  get isDue(): boolean {
    return this.#builder.rows >= this.#checkAt;
  }

  /** What is there makes it certain that no more is wanted. */
  get suffices(): boolean {
    return this.next.takesEach && this.#builder.rows >= this.next.wanted;
  }

  /** No piece yet: the next look is a few rows away. */
  lookLater(): void {
    const { rows } = this.#builder;
    const soon = rows + CHECK_ROWS;
    this.#checkAt = rows < this.#piece.rows ? Math.min(this.#piece.rows, soon) : soon;
  }

  append(row: unknown): void {
    this.#builder.append(row);
  }

  /** Forgets all rows but the first ones. */
  truncate(rows: number): void {
    this.#builder.truncate(rows);
    this.lookLater();
  }

  /** Rows that come from here on have these types in columns that pass. None may be left of those before. */
  restart(passed: DeclaredTypes): void {
    this.#builder = new RowBuilder(this.declared, passed);
    this.lookLater();
  }

  /** Hands on what is there once it is a piece. */
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
