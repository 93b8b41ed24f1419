/** Which aggregates a SQL type does not have. Checked before anything runs, if the column's type is known. */
import { OptionError } from "../errors/index.ts";
import { columnType } from "./column-type.ts";
import type { AggregateExpression, AggregateName } from "./expression/index.ts";
import type { Plan } from "./plan.ts";

const NESTED = /\]$|^(STRUCT|MAP|UNION)\b/;
const TEXT = /^(VARCHAR|BLOB|UUID|JSON|ENUM)\b/;
const TIMES = /^(DATE|TIME|TIMESTAMP|INTERVAL)\b/;
const INTERVAL = /^INTERVAL$/;
const BOOLEAN = /^BOOLEAN$/;

/** The kernel has none of these. min, max, first, list and the counts exist for every type. */
const NONE_OF: Partial<Record<AggregateName, readonly RegExp[]>> = {
  sum: [NESTED, TEXT, TIMES],
  mean: [NESTED, TEXT, BOOLEAN],
  quantile: [NESTED, TEXT, BOOLEAN, INTERVAL],
  std: [NESTED, TEXT, BOOLEAN, TIMES],
  var: [NESTED, TEXT, BOOLEAN, TIMES],
};

export function checkAggregateType(plan: Plan, { name, input }: AggregateExpression, operator: string): void {
  if (input?.kind !== "column") return;
  const type = columnType(plan, input.name);
  if (type === null || NONE_OF[name]?.some((none) => none.test(type)) !== true) return;
  throw new OptionError(
    `${operator}: there is no ${name} of "${input.name}", which is ${type}. Convert it to numbers first, such as col("${input.name}").cast("DOUBLE"), or for times sql("epoch(${input.name})").`,
  );
}
