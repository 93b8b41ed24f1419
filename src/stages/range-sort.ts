/**
 * A sort by ranges: keys are sampled from every part of the rows, and cut into as many ranges as there are partitions.
 * A key is one BLOB with the order of all sort keys together, including descending ones and nulls. So equal keys stay
 * together, and the sorted partitions follow one another.
 */
import { quoteIdentifier, quoteText } from "../arrow/index.ts";
import { expressionSql, isDescribable, type SortNode } from "../plan/index.ts";
import type { Gather } from "../protocol/index.ts";
import { draftOverOperators, draftOverTables, functionsIn, named } from "./draft.ts";
import { orderParts, ownOrderParts } from "./keys.ts";
import type { Names } from "./needed.ts";
import type { Operators } from "./operators.ts";
import { withPartition } from "./partition.ts";
import { someOf } from "./reads.ts";
import { relation } from "./sql/relation.ts";
import { nested, type Select, selectFrom, tableSql } from "./sql/select.ts";
import type { TaskStage } from "./stage.ts";

const KEY = quoteIdentifier("__spillway_key");
const BOUNDS = quoteIdentifier("__spillway_bounds");
/** How many keys each task samples. */
const SAMPLED_KEYS = 1000;
/**
 * A bound is no longer than this, because every map task has all of them. Keys that are equal up to this length share a
 * partition.
 */
const BOUND_BYTES = 1024;

/** `needed`: what this sort and the operators above need of the rows. */
export async function rangeSort(
  plan: SortNode,
  draft: TaskStage,
  by: Extract<Gather, { kind: "partitions" }>,
  operators: Operators,
  needed: Names,
): Promise<TaskStage> {
  const { count } = by;
  // Files are read twice, the first time only their keys. The output of functions or other operators gets two readers
  // instead.
  const readsTwice = draft.input.kind === "splits" && functionsIn(draft).length === 0 && draft.broadcast.length === 0;
  const input = readsTwice ? draft : await operators.typed(draftOverOperators(operators.inputs(draft)), plan.input);
  const key = sortKey(plan);
  const sampled = operators.close({
    ...named(input, "sample keys"),
    select: sampleOf(input.select, key),
    makes: someOf(draft.makes),
  });
  const columns = [{ name: "__spillway_key", type: "BLOB" }];
  const keys = { operators: [sampled], columns };
  const bounds = operators.close(draftOverTables([keys], { kind: "whole" }, boundsOf("{t0}", count), ["sort bounds"]));
  const given = { operators: [bounds], columns };
  const map = {
    ...named(input, "shuffleMap"),
    skipped: draft.skipped,
    broadcast: [...input.broadcast, given],
    select: ranged(input.select, key, `{b${input.broadcast.length}}`, count),
    scatter: count,
    makes: draft.makes,
  };
  const table = await operators.table([operators.close(map)], plan.input, needed);
  const sort = draftOverTables([table], by, relation(plan, [selectFrom("{t0}")]), ["sort"]);
  return { ...sort, setsOrder: true };
}

/**
 * A constant text at the end makes the key a BLOB. A key of a few bytes (of a column that contains only nulls, for
 * example) would be a BIGINT.
 */
function sortKey({ keys, input }: SortNode): string {
  const partsOf = isDescribable(input) ? ownOrderParts : orderParts;
  const args = keys.flatMap(({ expression, descending, nulls }) => {
    const order = quoteText(`${descending ? "DESC" : "ASC"} NULLS ${nulls.toUpperCase()}`);
    return partsOf(expressionSql(expression)).flatMap((part) => [part, order]);
  });
  return `create_sort_key(${args.join(", ")}, '', 'ASC NULLS LAST')`;
}

function sampleOf(select: Select, key: string): Select {
  const keys = `(SELECT ${key}[1:${BOUND_BYTES}] AS ${KEY} FROM ${tableSql(nested(select))})`;
  return selectFrom(`(SELECT * FROM ${keys} USING SAMPLE reservoir(${SAMPLED_KEYS} ROWS) REPEATABLE (1))`, select);
}

/** Evenly spaced sampled keys: count - 1 of them, fewer if some are equal. */
function boundsOf(table: string, count: number): Select {
  const numbered = `(SELECT ${KEY}, row_number() OVER (ORDER BY ${KEY}) AS i, count(*) OVER () AS n FROM ${table})`;
  return selectFrom(
    `(SELECT DISTINCT ${KEY} FROM ${numbered} WHERE (i * ${count}) // n > ((i - 1) * ${count}) // n AND i < n)`,
  );
}

/** The partition of a row is the number of bounds below its key. */
function ranged(select: Select, key: string, bounds: string, count: number): Select {
  const list = `(SELECT list(${KEY} ORDER BY ${KEY}) FROM ${bounds})`;
  const keyed = { ...nested(select), list: `*, ${key} AS ${KEY}, ${list} AS ${BOUNDS}` };
  return withPartition(keyed, rangeOf(0, count - 1), `* EXCLUDE (${KEY}, ${BOUNDS})`);
}

/** By binary search: looking at all of 63 bounds took 16 times as long. A missing bound is above every key. */
function rangeOf(first: number, last: number): string {
  if (first >= last) return String(first);
  const middle = (first + last) >> 1;
  return `CASE WHEN ${KEY} > ${BOUNDS}[${middle + 1}] THEN ${rangeOf(middle + 1, last)} ELSE ${rangeOf(first, middle)} END`;
}
