/** Finds functions that take most of the time, and functions that an expression could replace. */
import { formatDuration } from "../../units/index.ts";
import { type OperatorRule, percent, whole } from "../rule.ts";

const LONG = 2_000;
const DOMINATES = 0.8;
/** Share of its time. A function that computes for less than this share mostly waits. */
const WAITS = 0.3;
const MANY_ROWS = 10_000;
const DROPS_MOST = 0.5;

export const dominantFunction: OperatorRule = ({ id, name, functions, wall, cpu }, { operators, workers }) => {
  const all = operators.reduce((sum, operator) => sum + operator.wall, 0);
  if (functions.length === 0 || wall < LONG || wall < all * DOMINATES) return null;
  const waits = cpu < wall * WAITS;
  const what = waits
    ? `and computed for only ${formatDuration(cpu)} of that: it waits for calls, for files, or for cores that other programs use`
    : `${formatDuration(cpu)} of it computing`;
  return {
    kind: "function",
    severity: "info",
    operator: id,
    text: `${name} took ${formatDuration(wall)} of work, ${percent(wall / all)} of the job's ${formatDuration(all)}, ${what}.`,
    remedies: waits
      ? [
          "Make the function async and raise maxInFlight, so that many calls wait at once.",
          "Make one call for several rows: mapBatches with a batchSize.",
        ]
      : [
          "Use expressions where possible (col, when, withColumn): they run in the kernel without JavaScript.",
          "Use mapBatches over columns instead of map over rows: no object is made for each row.",
          `Give the session more workers (${workers} now), if the machine has more cores.`,
        ],
  };
};

export const filterFunction: OperatorRule = ({ id, name, functions, isSource, rowsIn, rowsOut }) => {
  const filter = functions.find((one) => /^filter\b/.test(one));
  if (filter === undefined || !isSource || !name.startsWith("read")) return null;
  if (rowsIn < MANY_ROWS || rowsOut > rowsIn * DROPS_MOST) return null;
  return {
    kind: "filter",
    severity: "info",
    operator: id,
    text: `${filter} is a function: ${name} read ${whole(rowsIn)} rows for it, and ${whole(rowsOut)} were left.`,
    remedies: [
      'Write it as an expression, filter(col("day").lt("1997-01-01")): it reaches the reader, which skips row groups, files and columns.',
      "If only a part of the condition can be an expression, filter by that part first.",
    ],
  };
};
