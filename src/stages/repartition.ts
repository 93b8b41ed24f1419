/** The same rows in other partitions. What comes after does not fuse into it: it starts from the partitions. */
import type { RepartitionNode } from "../plan/index.ts";
import type { Gather, OperatorId } from "../protocol/index.ts";
import { type Draft, draftOverOperators, draftOverTables } from "./draft.ts";
import type { Exchange } from "./exchange.ts";
import type { Names } from "./needed.ts";
import type { Operators } from "./operators.ts";
import { selectFrom } from "./sql/select.ts";

export async function repartitioned(
  { into, input }: RepartitionNode,
  draft: Draft,
  exchange: Exchange,
  operators: Operators,
  needed: Names,
): Promise<Draft> {
  if (into.kind === "keys") return exchange.byKeys(draft, input, into.keys, into.count, needed);
  const passed = async (made: readonly OperatorId[], gather: Gather, more: Partial<Draft>) => {
    const table = await operators.table(made, input, needed);
    const gathered = draftOverTables([{ ...table, ordered: true }], gather, selectFrom(), ["repartition"]);
    return draftOverOperators([operators.close({ ...gathered, ...more })]);
  };
  const made = operators.inputs(draft);
  switch (into.kind) {
    case "parts":
      return passed(made, { kind: "parts", count: into.count }, {});
    case "rows":
      return passed(made, { kind: "rows", rows: into.rows }, {});
    case "bytes":
      // How many rows that is only running tells: one task, which no worker waits with, passes the blocks on and cuts
      // them anew.
      return passed(
        made,
        { kind: "all" },
        { place: "wide", blockSize: { targetBytes: into.bytes, minBytes: into.bytes } },
      );
  }
}
