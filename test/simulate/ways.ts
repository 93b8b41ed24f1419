/**
 * Another way for wide operators of a simulated job, as the program plans it when the kernel has failed: operators that
 * give the same rows, in the same order where the job has one.
 */
import type { FedTable, Operator, OperatorId, TaskOperator } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import type { Chance } from "./chance.ts";
import { type PlannedJob, tasks } from "./plans.ts";

/** Every wide operator of the job has another way, or nearly every one. */
export function withOtherWays(chance: Chance, planned: PlannedJob): PlannedJob {
  const operators = planned.spec.operators.map((one): Operator => {
    return one.kind === "tasks" && one.place === "wide" && chance.happens(0.9)
      ? { ...one, otherWay: chance.happens(0.2) ? "first" : "spare" }
      : one;
  });
  return { ...planned, spec: { ...planned.spec, operators } };
}

/**
 * The operators that take the place of the wide one; the last of them makes its rows. `instead`: operators that have
 * taken the place of others before.
 */
export function otherWayOf(
  chance: Chance,
  wide: TaskOperator,
  preserveOrder: boolean,
  instead: ReadonlyMap<OperatorId, OperatorId>,
): readonly Operator[] {
  if (wide.input.kind !== "fed") throw new Error(`${wide.name} is not fed`);
  const tables = wide.input.tables.map((table) => ({
    ...table,
    operators: table.operators.map((id) => instead.get(id) ?? id),
  }));
  const ids = (i: number) => 2_000 + 100 * wide.id + i;
  const isOrdered = preserveOrder || tables.some(({ ordered }) => ordered === true);
  if (isOrdered || chance.happens(0.3)) {
    const inputs = tables.flatMap(({ operators }) => operators);
    const passing = tasks(ids(0), { kind: "operators", operators: inputs }, sometimes(chance));
    // A second reader of the same rows, which hands on none of them: as the keys of a sort are looked at first.
    const reader: Operator = { ...passing, id: ids(1), name: "reader" };
    const nothing: Operator = {
      kind: "slice",
      id: ids(2),
      name: "nothing",
      input: { kind: "operators", operators: [ids(1)] },
      offset: 1_000_000_000,
      limit: null,
    };
    const table = { operators: [ids(0), ids(2)], columns: [], ordered: isOrdered };
    const gather = { kind: "parts", count: chance.between(1, 5) } as const;
    return [passing, reader, nothing, last(wide, ids(3), { kind: "fed", tables: [table], gather })];
  }
  const count = chance.between(1, 6);
  const sizes = { target: chance.between(1, 40) * PAGE, atLeast: chance.between(1, 3) };
  const gather = { kind: "partitions", count, ...(chance.happens(0.7) ? { together: sizes } : {}) } as const;
  const sink = { kind: "blocks", targetBytes: PAGE, minBytes: false, scatter: count } as const;
  const maps = tables.map(({ operators }, i) => tasks(ids(i), { kind: "operators", operators }, { sink }));
  const gathered = maps.map(({ id }): FedTable => ({ operators: [id], columns: [] }));
  return [...maps, last(wide, ids(maps.length), { kind: "fed", tables: gathered, gather })];
}

function sometimes(chance: Chance): Partial<TaskOperator> {
  return { minRowsPerTask: chance.oneOf([1, 1, 5, 20]) };
}

function last({ sink, maxRowsPerTask }: TaskOperator, id: OperatorId, input: TaskOperator["input"]): TaskOperator {
  return tasks(id, input, { sink, maxRowsPerTask });
}
