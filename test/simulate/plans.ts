/**
 * Random jobs for the simulator, and what they must give. Rows are numbers; every operator hands on the rows it gets,
 * so a plan's result can be computed without running it.
 */
import type {
  BlockId,
  BlockSlice,
  JobId,
  JobSpec,
  Operator,
  Sink,
  Split,
  Step,
  TaskOperator,
} from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import type { Chance } from "./chance.ts";

export interface PlannedJob {
  readonly spec: JobSpec;
  /** Rows of its result, in plan order. */
  readonly expected: readonly number[];
  /** Rows a block of each operator holds at most, and pages a row needs. */
  readonly rowsPerBlock: ReadonlyMap<number, number>;
  readonly pagesPerRow: number;
  /** How much larger the rows of an operator are than others'. */
  readonly growth?: ReadonlyMap<number, number>;
  /** Operators that take minutes for a block. */
  readonly slow?: ReadonlySet<number>;
  /** Two operators read the same one: in order, that may need all of its rows at once. */
  readonly isDiamond: boolean;
  /** What is told about sizes is true. */
  readonly isHonest: boolean;
  /** The most it can need at once and still flow: a block of each operator, and what the program reads. */
  readonly pagesNeeded: number;
}

const NOTHING = { files: 0, rowGroups: 0, rows: 0, columns: 0 };

/** The first block that the program puts into a store of a test: the payload of every function. */
export const PAYLOAD = 1 as BlockId;

/** A split's rows travel in its text. */
export function splitOf(rows: readonly number[]): Split {
  return { kind: "sql", sql: rows.join(","), files: [] };
}

export function rowsOfSplit(split: Extract<Split, { kind: "sql" }>): number[] {
  return split.sql === "" ? [] : split.sql.split(",").map(Number);
}

export function tasks(
  id: number,
  input: TaskOperator["input"],
  more: Partial<TaskOperator> & { readonly isClass?: boolean } = {},
): TaskOperator {
  const { isClass, ...rest } = more;
  const payload = { id: PAYLOAD, length: 1, rows: 0 };
  const options = { batchSize: 1, batchFormat: "rows", maxInFlight: 1, onError: "fail" } as const;
  const steps: Step[] =
    isClass === undefined
      ? []
      : [{ kind: "function", operator: `fn${id}`, form: "mapBatches", isClass, payload, options }];
  return {
    kind: "tasks",
    id,
    name: `op${id}`,
    input,
    steps,
    sink: { kind: "blocks", targetBytes: PAGE, minBytes: false },
    request: { cpu: 1, gpu: 0, memory: 0 },
    concurrency: { min: 1, max: 64 },
    place: "worker",
    broadcast: [],
    setsOrder: false,
    minRowsPerTask: 1,
    maxRowsPerTask: null,
    maxRetries: 1000,
    maxOomRetries: 4,
    learned: null,
    appetite: null,
    skipped: NOTHING,
    ...rest,
  };
}

export function slice(id: number, operators: readonly number[], offset: number, limit: number | null): Operator {
  return { kind: "slice", id, name: `slice${id}`, input: { kind: "operators", operators }, offset, limit };
}

export function job(name: string, operators: readonly Operator[], more: Partial<JobSpec> = {}): JobSpec {
  const usesFunctions = operators.some((one) => one.kind === "tasks" && one.steps.length > 0);
  const holds = usesFunctions ? [PAYLOAD] : [];
  return { id: name as JobId, operators, preserveOrder: false, maxErroredBlocks: 0, holds, ...more };
}

/** A job over blocks that the program keeps: each split is a slice or two of them. */
export function jobOverBlocks(
  chance: Chance,
  name: string,
  slices: readonly BlockSlice[],
  rows: readonly number[],
  pagesPerRow: number,
): PlannedJob {
  const splits: Split[] = [];
  for (let at = 0; at < slices.length; ) {
    const count = chance.between(1, 2);
    splits.push({ kind: "blocks", slices: slices.slice(at, at + count) });
    at += count;
  }
  const rowsPerBlock = new Map([
    [0, chance.between(1, 8)],
    [1, chance.between(1, 8)],
  ]);
  const target = (id: number) => Math.ceil((rowsPerBlock.get(id) ?? 1) * pagesPerRow * PAGE);
  const operators: Operator[] = [
    tasks(0, { kind: "splits", splits }, { sink: { kind: "blocks", targetBytes: target(0), minBytes: false } }),
  ];
  if (chance.happens(0.5)) {
    const sink = chance.happens(0.5)
      ? ({ kind: "count" } as const)
      : { kind: "blocks" as const, targetBytes: target(1), minBytes: false as const };
    operators.push(tasks(1, { kind: "operators", operators: [0] }, { sink }));
  }
  const holds = [...new Set(slices.map(({ block }) => block.id))];
  return {
    spec: job(name, operators, { preserveOrder: chance.happens(0.5), holds }),
    expected: rows,
    rowsPerBlock,
    pagesPerRow,
    isDiamond: false,
    isHonest: true,
    pagesNeeded: Number.POSITIVE_INFINITY,
  };
}

/** Asks for resources at random; what is asked for can be had by one worker at a time at least. */
export function demanding(chance: Chance, planned: PlannedJob, most: { cpu: number; memory: number }): PlannedJob {
  const operators = planned.spec.operators.map((operator): Operator => {
    if (operator.kind !== "tasks") return operator;
    const cpu = Math.min(most.cpu, chance.oneOf([0, 0.3, 0.5, 1, 1, 2, 4]));
    const memory = chance.happens(0.5) ? 0 : chance.between(1, most.memory);
    return { ...operator, request: { cpu, gpu: chance.oneOf([0, 0, 0, 0.5, 1, 2]), memory } };
  });
  return { ...planned, spec: { ...planned.spec, operators } };
}

/** Some of its functions make a hundred times as much of their input, in blocks of a row. */
export function growing(chance: Chance, planned: PlannedJob): PlannedJob {
  const growth = new Map<number, number>();
  const rowsPerBlock = new Map(planned.rowsPerBlock);
  const operators = planned.spec.operators.map((operator): Operator => {
    if (operator.kind !== "tasks" || operator.sink.kind !== "blocks" || !chance.happens(0.4)) return operator;
    growth.set(operator.id, 100);
    rowsPerBlock.set(operator.id, 1);
    return { ...operator, sink: { kind: "blocks", targetBytes: 100 * planned.pagesPerRow * PAGE, minBytes: false } };
  });
  const pagesNeeded = 520 + 160 * operators.length;
  return { ...planned, growth, rowsPerBlock, pagesNeeded, spec: { ...planned.spec, operators } };
}

/**
 * One of its functions takes minutes for a block, in one worker at a time: one that feeds a wide task, if there is any.
 */
export function dawdling(chance: Chance, planned: PlannedJob): PlannedJob {
  const { operators } = planned.spec;
  const inWorkers = operators.filter((one) => one.kind === "tasks" && one.place === "worker");
  const fed = operators.flatMap((one) => (one.kind === "tasks" && one.place === "wide" ? [one.input] : []));
  const read = fed.flatMap((input) => (input.kind === "fed" ? input.tables.flatMap((table) => table.operators) : []));
  const feeders = inWorkers.filter(({ id }) => read.includes(id));
  const slow = chance.oneOf(feeders.length > 0 ? feeders : inWorkers);
  const slowed = operators.map((one): Operator => {
    return one === slow && one.kind === "tasks" ? { ...one, concurrency: { min: 1, max: 1 } } : one;
  });
  return { ...planned, slow: new Set([slow.id]), spec: { ...planned.spec, operators: slowed } };
}

/** The rows that the last operator hands on, in plan order. */
export function resultOf(operators: readonly Operator[]): readonly number[] {
  const results = new Map<number, readonly number[]>();
  let last: readonly number[] = [];
  for (const operator of operators) {
    const { input } = operator;
    const rows =
      input.kind === "splits"
        ? input.splits.flatMap((split) => (split.kind === "sql" ? rowsOfSplit(split) : []))
        : input.kind === "operators"
          ? input.operators.flatMap((id) => results.get(id) ?? [])
          : gatheredRows(input, results);
    const end = operator.kind === "slice" && operator.limit !== null ? operator.offset + operator.limit : undefined;
    last = operator.kind === "slice" ? rows.slice(operator.offset, end) : rows;
    results.set(operator.id, last);
  }
  return last;
}

/** Of a partition the rows of each table in turn; which partition a row belongs to, the row says. */
function gatheredRows(
  { tables, gather }: Extract<TaskOperator["input"], { kind: "fed" }>,
  results: ReadonlyMap<number, readonly number[]>,
): readonly number[] {
  const rows = tables.flatMap(({ operators }) => operators.flatMap((id) => results.get(id) ?? []));
  if (gather.kind !== "partitions") return rows;
  return Array.from({ length: gather.count }, (_, i) =>
    rows.filter((row) => partitionOf(row, gather.count) === i),
  ).flat();
}

export function partitionOf(row: number, count: number): number {
  return row % count;
}

export function randomJob(chance: Chance, name: string, firstRow: number): PlannedJob {
  const operators: Operator[] = [];
  const rowsPerBlock = new Map<number, number>();
  const unused: number[] = [];
  const count = chance.between(1, 6);
  const pagesPerRow = chance.oneOf([0.1, 0.5, 1]);
  const isHonest = chance.happens(0.7);
  const preserveOrder = chance.happens(0.5);
  let isDiamond = false;
  let nextRow = firstRow;
  for (let id = 0; id < count || unused.length > 1; id++) {
    const isLast = id >= count;
    const rowsInBlock = chance.between(1, 8);
    rowsPerBlock.set(id, rowsInBlock);
    const traits = randomTraits(chance, isHonest ? Math.ceil(rowsInBlock * pagesPerRow * PAGE) : PAGE);
    if (unused.length === 0 || (!isLast && chance.happens(0.25))) {
      const splits = Array.from({ length: chance.between(0, 6) }, () => {
        const rows = Array.from({ length: chance.between(0, 30) }, () => nextRow++);
        return splitOf(rows);
      });
      operators.push(tasks(id, { kind: "splits", splits }, traits));
    } else {
      const inputs = isLast ? unused.splice(0) : [unused.splice(chance.between(0, unused.length - 1), 1)[0] ?? 0];
      if (!isLast && unused.length > 0 && chance.happens(0.3)) inputs.push(...unused.splice(0, 1));
      if (chance.happens(0.05)) {
        isDiamond = true;
        inputs.push(chance.between(0, id - 1));
      }
      if (chance.happens(0.25)) {
        const offset = chance.happens(0.5) ? 0 : chance.between(0, 40);
        const limit = chance.happens(0.2) ? null : chance.between(0, 60);
        operators.push(slice(id, inputs, offset, limit));
      } else {
        operators.push(tasks(id, { kind: "operators", operators: inputs }, traits));
      }
    }
    unused.push(id);
  }
  const last = operators.at(-1);
  if (last?.kind === "tasks" && chance.happens(0.4)) {
    operators[operators.length - 1] = { ...last, sink: otherSink(chance, name) };
  }
  const pages = (rows: number, factor: number) => Math.ceil(factor * Math.ceil(rows * pagesPerRow));
  let pagesNeeded = 5 * pages(Math.max(...rowsPerBlock.values()), 1);
  for (const rows of rowsPerBlock.values()) pagesNeeded += pages(rows, 1.5);
  return {
    spec: job(name, operators, { preserveOrder }),
    expected: resultOf(operators),
    rowsPerBlock,
    pagesPerRow,
    isDiamond,
    isHonest,
    pagesNeeded,
  };
}

function randomTraits(chance: Chance, targetBytes: number): Partial<TaskOperator> & { readonly isClass?: boolean } {
  const traits = {
    sink: { kind: "blocks", targetBytes, minBytes: false } as const,
    concurrency: { min: 1, max: chance.between(1, 5) },
    minRowsPerTask: chance.oneOf([1, 1, 5, 20, 1000]),
  };
  return chance.happens(0.4) ? { ...traits, isClass: chance.happens(0.5) } : traits;
}

function otherSink(chance: Chance, name: string): Sink {
  if (chance.happens(0.5)) return { kind: "count" };
  return {
    kind: "files",
    format: "csv",
    staging: `/staging/${name}`,
    directory: `/out/${name}`,
    mode: "error",
    partitionBy: [],
    maxRowsPerFile: null,
    targetFileSize: null,
    heldBytes: 1 << 20,
    compression: null,
  };
}
