/**
 * Rows of a synchronous or asynchronous iterator of the program, read only as far as calls need them: the iterator may
 * be endless. Rows that were read are kept in the store. A later call starts from the first row again and reads on if
 * it needs more. One call reads at a time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type DataType,
  evenSlices,
  inRow,
  type RecordBatch,
  RowBuilder,
  type Schema,
  unifySchemas,
} from "../../arrow/index.ts";
import { type OpenSource, type ScanRequest, type Source, type SourceCall, whateverItTakes } from "../../plan/index.ts";
import type { BlockSlice, Bytes } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { BlockHold } from "./block-hold.ts";
import { columnsOfBatch, openBlocks } from "./blocks.ts";

/** The size of the rows that were read is checked every this many rows. */
const CHECK_ROWS = 16;
const TURN_MS = 20;

type Items = Iterator<unknown> | AsyncIterator<unknown>;

export class LazyItems {
  readonly #builder: RowBuilder;
  #slices: readonly BlockSlice[] = [];
  #schema: Schema | null = null;
  /** How many rows are in the store. */
  #stored = 0;
  #hasEnded = false;
  #failure: { readonly thrown: unknown } | null = null;
  /** Resolves when the present reading ends. */
  #turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly engine: Engine,
    private readonly items: Items,
    declared: ReadonlyMap<string, DataType>,
    private readonly mostBytes: Bytes,
    private readonly override: number | null,
  ) {
    this.#builder = new RowBuilder(declared);
  }

  source(call: SourceCall = whateverItTakes): Source {
    return {
      name: "fromItems",
      label: this.#hasEnded ? `${this.#stored} rows` : "an iterator",
      open: async () => this.#open(call),
      during: (other) => this.source(other),
    };
  }

  #open(call: SourceCall): OpenSource {
    const known = () => openBlocks(this.engine, this.#columns(), this.#stored, this.override, async () => this.#slices);
    const read = async (rows: number) => {
      if (call.reads) await this.#inTurn(rows, call);
      return known();
    };
    return {
      ...known(),
      countRows: async () => (this.#hasEnded ? this.#stored : null),
      splits: async (request: ScanRequest) => (await read(request.limit ?? Number.POSITIVE_INFINITY)).splits(request),
      cut: async () => (await read(Number.POSITIVE_INFINITY)).cut(),
    };
  }

  /** The type of a column may be unknown until all rows have been read. */
  #columns() {
    return this.#hasEnded && this.#schema !== null ? columnsOfBatch({ schema: this.#schema }) : null;
  }

  #inTurn(rows: number, call: SourceCall): Promise<void> {
    const turn = this.#turn.then(() => this.#readUpTo(rows, call));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #readUpTo(rows: number, call: SourceCall): Promise<void> {
    let turned = performance.now();
    while (this.#stored + this.#builder.rows < rows && !this.#hasEnded) {
      call.check();
      if (this.#failure !== null) throw this.#failure.thrown;
      await this.#readOne();
      if (this.#builder.rows % CHECK_ROWS === 0) {
        if (this.#builder.byteLength >= this.mostBytes) await this.#store();
        // An iterator that never waits must not keep a timeout from firing.
        if (performance.now() - turned > TURN_MS) {
          await nextTurn();
          turned = performance.now();
        }
      }
    }
    if (this.#builder.rows > 0) await this.#store();
  }

  async #readOne(): Promise<void> {
    try {
      const next = this.items.next();
      const { done, value } = "then" in next ? await next : next;
      if (done === true) this.#hasEnded = true;
      else this.#append(value);
    } catch (thrown) {
      this.#failure = { thrown };
      throw thrown;
    }
  }

  #append(row: unknown): void {
    try {
      this.#builder.append(row);
    } catch (thrown) {
      void this.items.return?.();
      throw inRow(thrown, this.#stored + this.#builder.rows, "fromItems");
    }
  }

  async #store(): Promise<void> {
    const batch = this.#builder.finish();
    try {
      for (const part of evenSlices(batch, this.engine.settings.targetMaxBlockSize)) await this.#put(part);
    } catch (thrown) {
      // The rows of this reading are lost, so every later call fails in the same way.
      this.#failure = { thrown };
      throw thrown;
    }
  }

  async #put(part: RecordBatch): Promise<void> {
    const block = await this.engine.put(part);
    new BlockHold(this.engine, [block.id]).follow(this);
    this.#slices = [...this.#slices, { block, start: 0, end: part.length }];
    this.#stored += part.length;
    this.#schema = this.#schema === null ? part.schema : (unifySchemas(this.#schema, part.schema) ?? this.#schema);
  }
}
