/**
 * The broadcast tables of an operator in this worker. They are the same for all of its tasks, so the first task stores
 * them, and they stay until the operator is retired.
 */
import { type Connection, StoredTable } from "../kernel/index.ts";
import type { FedTable, PlacedSlice } from "../protocol/index.ts";
import type { MappedArena } from "../store/index.ts";
import { readSlice } from "./read-slice.ts";

export class BroadcastTables {
  #tables: readonly StoredTable[] | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly declared: readonly Pick<FedTable, "columns">[],
    private readonly arena: Pick<MappedArena, "view">,
  ) {}

  /** The SQL for each table. */
  async fill(blocks: readonly (readonly PlacedSlice[])[]): Promise<readonly string[]> {
    if (this.#tables === null) {
      const tables = this.declared.map(({ columns }) => new StoredTable(this.connection, columns));
      try {
        for (const [index, table] of tables.entries()) {
          for (const slice of blocks[index] ?? []) await table.append([readSlice(this.arena, slice)], () => {});
        }
      } catch (error) {
        for (const table of tables) table.drop();
        throw error;
      }
      this.#tables = tables;
    }
    return this.#tables.map((table) => table.sql);
  }

  drop(): void {
    for (const table of this.#tables ?? []) table.drop();
    this.#tables = null;
  }
}
