/** Workers with a container of the user's: its memory is managed by it, so the ladder steps back. */
import { expect, test } from "vitest";
import type { WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, splits, Table } from "./table.ts";

/** Worker 1 hands over and the program keeps. */
function makes(table: Table, blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    table.asks(1);
    table.handsOver(1);
    const id = table.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    table.program({ type: "keep", blocks: [id] });
  }
}

test.each([false, true])("[K14] target steps back for a worker that has a container (evicts: %s)", (evicts) => {
  const table = new Table(2, 100, { managedTarget: 4 * PAGE });
  table.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), 20);
  table.says(1, { type: "container", bytes: 10, evicts });
  makes(table, 8);
  expect(table.scheduler.ledger.managed(1 as WorkerId)).toBe(8 * PAGE);
  expect(table.spilled).toEqual([]);
});
