/**
 * Turns operators of a random job into fed ones: wide tasks, partitions behind scattered blocks, equal parts,
 * broadcasts.
 */
import type { FedTable, Operator, OperatorId, TaskOperator } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import type { Chance } from "./chance.ts";
import { type PlannedJob, resultOf, splitOf, tasks } from "./plans.ts";

const WAYS = ["wide", "wide", "whole", "parts", "rows", "partitions", "broadcast"] as const;
const MOSTLY_WIDE = ["wide", "wide", "wide", "wide", "partitions", "broadcast"] as const;

export function gathering(chance: Chance, planned: PlannedJob, isMostlyWide = false): PlannedJob {
  // Which rows a slice lets through is only known where they come in order.
  const inOrder = planned.spec.preserveOrder || planned.spec.operators.some(({ kind }) => kind === "slice");
  let operators = [...planned.spec.operators];
  for (const { id } of planned.spec.operators) {
    const operator = operators.find((one) => one.id === id);
    if (operator?.kind !== "tasks" || operator.input.kind !== "operators" || !chance.happens(0.6)) continue;
    const isOrdered = inOrder || chance.happens(0.2);
    const way = chance.oneOf(isMostlyWide ? MOSTLY_WIDE : WAYS);
    operators = gathered(chance, way, operators, operator, operator.input.operators, isOrdered);
  }
  const rowsPerBlock = new Map(planned.rowsPerBlock);
  for (const { id } of operators) if (!rowsPerBlock.has(id)) rowsPerBlock.set(id, 2);
  const spec = { ...planned.spec, operators };
  // What is kept, and what the program may have to itself, is beside what flows.
  return { ...planned, spec, rowsPerBlock, expected: resultOf(operators), pagesNeeded: Number.POSITIVE_INFINITY };
}

function gathered(
  chance: Chance,
  way: (typeof WAYS)[number],
  operators: readonly Operator[],
  operator: TaskOperator,
  inputs: readonly OperatorId[],
  inOrder: boolean,
): Operator[] {
  const replaced = (more: Partial<TaskOperator>) =>
    operators.map((one) => (one === operator ? { ...operator, ...more } : one));
  const table = (ids: readonly OperatorId[]): FedTable => ({ operators: ids, columns: [], ordered: inOrder });
  switch (way) {
    case "wide": {
      const [first = 0, ...others] = inputs;
      const tables = others.length > 0 ? [table([first]), table(others)] : [table([first])];
      return replaced({ place: "wide", steps: [], input: { kind: "fed", tables, gather: { kind: "all" } } });
    }
    case "whole":
      return replaced({ steps: [], input: { kind: "fed", tables: [table(inputs)], gather: { kind: "whole" } } });
    case "parts":
      return replaced({
        input: { kind: "fed", tables: [table(inputs)], gather: { kind: "parts", count: chance.between(1, 9) } },
      });
    case "rows":
      return replaced({
        input: { kind: "fed", tables: [table(inputs)], gather: { kind: "rows", rows: chance.between(1, 50) } },
      });
    case "partitions": {
      const count = chance.between(1, 6);
      const mayScatter = inputs.every((id) => scatters(operators, id));
      if (!mayScatter) return [...operators];
      const sizes = { target: chance.between(1, 40) * PAGE, atLeast: chance.between(1, 3) };
      // Of several tables, a task would have the rows of one table first, and then those of the next.
      const together = inputs.length === 1 && chance.happens(0.5) ? { together: sizes } : {};
      const gather = { kind: "partitions", count, ...together } as const;
      return replaced({ input: { kind: "fed", tables: inputs.map((id) => table([id])), gather } }).map((one) =>
        inputs.includes(one.id) && one.kind === "tasks" && one.sink.kind === "blocks"
          ? { ...one, sink: { ...one.sink, scatter: count } }
          : one,
      );
    }
    case "broadcast": {
      const id = 1000 + operator.id;
      const splits = Array.from({ length: chance.between(0, 2) }, (_, i) => splitOf([-id, -id - i - 1]));
      const at = operators.indexOf(operator);
      const with_ = replaced({ broadcast: [table([id])] });
      return [...with_.slice(0, at), tasks(id, { kind: "splits", splits }), ...with_.slice(at)];
    }
  }
}

/** One that makes blocks, which nobody else reads. */
function scatters(operators: readonly Operator[], id: OperatorId): boolean {
  const operator = operators.find((one) => one.id === id);
  const readers = operators.filter((one) => readsOf(one).includes(id));
  return (
    operator?.kind === "tasks" && operator.place === "worker" && operator.sink.kind === "blocks" && readers.length === 1
  );
}

export function readsOf(operator: Operator): readonly OperatorId[] {
  const { input } = operator;
  const broadcast = operator.kind === "tasks" ? operator.broadcast.flatMap(({ operators }) => operators) : [];
  if (input.kind === "splits") return broadcast;
  if (input.kind === "operators") return [...input.operators, ...broadcast];
  return [...input.tables.flatMap(({ operators }) => operators), ...broadcast];
}
