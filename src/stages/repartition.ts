/** The same rows in other partitions. Later operators do not fuse into it: they start from the partitions. */
import type { RepartitionNode } from "../plan/index.ts";
import type { Gather, OperatorId } from "../protocol/index.ts";
import { draftOverOperators, draftOverTables } from "./draft.ts";
import type { Exchange } from "./exchange.ts";
import type { Names } from "./needed.ts";
import type { Operators } from "./operators.ts";
import { selectFrom } from "./sql/select.ts";
import type { TaskStage } from "./stage.ts";

export async function repartitioned(
  { into, input }: RepartitionNode,
  draft: TaskStage,
  exchange: Exchange,
  operators: Operators,
  needed: Names,
): Promise<TaskStage> {
  if (into.kind === "keys") return exchange.byKeys(draft, input, into.keys, into.count, needed);
  const passed = async (made: readonly OperatorId[], gather: Gather, more: Partial<TaskStage>) => {
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
      // Only running it tells how many rows that is. One task, started when its input is complete, passes the blocks on
      // and cuts them anew.
      return passed(
        made,
        { kind: "all" },
        { place: "wide", blockSize: { targetBytes: into.bytes, minBytes: into.bytes } },
      );
  }
}
