/**
 * One aggregate in two phases: columns with the state of some of the rows, and SQL that combines any number of such
 * states. However the rows are split, nulls and empty parts included, the result is that of the aggregate over all
 * rows.
 */
import { quoteIdentifier } from "../../arrow/index.ts";
import { type AggregateExpression, expressionSql } from "../../plan/index.ts";
import { holdsUnion, orderKey, travellingOrder } from "../keys.ts";

export interface State {
  /**
   * Columns of the partial aggregate. `type` is given where the kernel would fail on a column that contains only nulls.
   */
  readonly columns: readonly { readonly name: string; readonly sql: string; readonly type: string | null }[];
  /** List columns whose values become separate rows for the final aggregate. */
  readonly unnested: readonly string[];
  /** SQL over the states of a group. */
  readonly final: string;
}

const WHOLE = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$/.source;
const DECIMAL = /^DECIMAL\([0-9]+,([0-9]+)\)$/.source;

/**
 * `id` makes the names of its columns unique; `type` is the type of its input, if known. Null: its state would contain
 * as many values as there are rows.
 */
export function stateOf(aggregate: AggregateExpression, id: number, type: string | null): State | null {
  const { name, input, where } = aggregate;
  const argument = input === null ? "*" : expressionSql(input);
  const conditions = where === null ? [] : [expressionSql(where)];
  const rows = filter(conditions);
  const valuesThat = (not: string, are: string) => filter([...conditions, `${argument} IS NOT NULL`, `${not} ${are}`]);
  const isUnion = holdsUnion(argument);
  const own = (part: string) => `__spillway_s${id}${part}`;
  const q = (part: string) => quoteIdentifier(own(part));
  const column = (part: string, sql: string, type: string | null = null) => ({ name: own(part), sql, type });
  const plain = (sql: string, final: string): State => ({ columns: [column("", sql)], unnested: [], final });
  switch (name) {
    case "count":
      return plain(`count(${argument})${rows}`, `CAST(coalesce(sum(${q("")}), 0) AS BIGINT)`);
    case "sum":
      return {
        columns: [column("", `sum(${argument})${rows}`), column("type", `min(${argument}) FILTER (WHERE false)`)],
        unnested: [],
        // A sum of whole numbers travels as a DECIMAL. The second column carries the type of the input, from which the
        // kernel derives the type of the sum.
        final: `cast_to_type(sum(${q("")}), sum(${q("type")}))`,
      };
    case "min":
    case "max":
      return {
        columns: [
          column("", `${name}(${argument})${rows}`),
          column("order", travellingOrder(`${name}(${argument})${rows}`), "BLOB"),
        ],
        unnested: [],
        final: `coalesce(arg_${name}(${q("")}, ${q("order")}), ${name}(${q("")}))`,
      };
    case "mean": {
      // Numbers with `scale` digits after the point are added up as whole numbers. Their sum is divided by n with as
      // many zeros.
      const [sum, scale] = [`sum(CAST(${q("whole")} AS HUGEINT))`, `max(${q("scale")})`];
      const n = `CAST(CAST(sum(${q("n")}) AS VARCHAR) || repeat('0', ${scale}) AS HUGEINT)`;
      const exact = `CAST(${sum} // ${n} AS DOUBLE) + CAST(${sum} % ${n} AS DOUBLE) / CAST(${n} AS DOUBLE)`;
      const isWhole = `count(${q("whole")}) = count(*) FILTER (WHERE ${q("n")} > 0)`;
      const isExact = `${isWhole} AND min(${q("scale")}) = ${scale} AND length(CAST(sum(${q("n")}) AS VARCHAR)) + ${scale} < 38`;
      const number = `CASE WHEN ${isExact} THEN ${exact} ELSE sum(${q("")}) / sum(${q("n")}) END`;
      const is = (types: string) => `regexp_matches(typeof(${argument}), '${types}')`;
      const digits = (value: string) => `replace(CAST(${value} AS VARCHAR), '.', '')`;
      const whole = `CASE WHEN ${is(WHOLE)} THEN TRY_CAST(${argument} AS HUGEINT) WHEN ${is(DECIMAL)} THEN TRY_CAST(${digits(argument)} AS HUGEINT) END`;
      // Finding the digits of each value costs 250 ns. If the type says that the sum is a decimal, only the digits of
      // the sum are needed.
      const total = type?.startsWith("DECIMAL") === true ? digits(`sum(${argument})${rows}`) : `sum(${whole})${rows}`;
      const after = `CASE WHEN ${is(WHOLE)} THEN 0 ELSE TRY_CAST(regexp_extract(typeof(${argument}), '${DECIMAL}', 1) AS INTEGER) END`;
      const micros = `sum(CAST(epoch_us(${q("at")}) AS HUGEINT) * ${q("n")}) // sum(${q("n")})`;
      const time = `CAST(make_timestamp(CAST(${micros} AS BIGINT)) AS VARCHAR) || '+00'`;
      const neither = `CASE WHEN sum(${q("n")}) > 0 THEN error('mean: of a TIME or an INTERVAL there is none after a function. Take it of sql("epoch(x)")') END`;
      return {
        // Types are unknown here: a cast gives null if there is no such value, and a type without any mean is refused
        // when the query is planned.
        columns: [
          column("", `sum(TRY_CAST(${argument} AS DOUBLE))${rows}`, "DOUBLE"),
          // Whole numbers and decimals are added up exactly, as the kernel does in a single phase.
          column("whole", `TRY_CAST(${total} AS DECIMAL(38, 0))`, "DECIMAL(38,0)"),
          column("scale", `max(${after})${rows}`, "INTEGER"),
          column("at", `avg(TRY_CAST(${argument} AS TIMESTAMP))${rows}`, "TIMESTAMP"),
          column("n", `count(${argument})${rows}`, "BIGINT"),
          column(
            "type",
            `CASE WHEN avg(${argument}) FILTER (WHERE false) IS NULL THEN min(${argument}) FILTER (WHERE false) END`,
          ),
        ],
        unnested: [],
        final: `cast_to_type(coalesce(CAST(${number} AS VARCHAR), ${time}, ${neither}), list_avg([min(${q("type")})]))`,
      };
    }
    case "var":
    case "std": {
      const square = merged({ n: q("n"), high: q("high"), low: q("low"), m2: q("m2") });
      const value = `CAST(${argument} AS DOUBLE)`;
      const variance = `CASE WHEN ${square}.n > 1 THEN ${square}.m2 / (${square}.n - 1) END`;
      return {
        columns: [
          column("n", `CAST(count(${argument})${rows} AS DOUBLE)`, "DOUBLE"),
          column("high", `sum(${highBits(value)})${rows}`, "DOUBLE"),
          column("low", `sum(${value} - ${highBits(value)})${rows}`, "DOUBLE"),
          column("m2", `var_pop(${argument})${rows} * count(${argument})${rows}`, "DOUBLE"),
        ],
        unnested: [],
        final: name === "var" ? variance : `sqrt(${variance})`,
      };
    }
    case "first":
      return {
        columns: [column("", `first(${argument})${rows}`), column("n", `count(*)${rows}`, "BIGINT")],
        unnested: [],
        final: `first(${q("")}) FILTER (WHERE ${q("n")} > 0)`,
      };
    case "countDistinct":
      return {
        columns: [
          column("", `list(DISTINCT ${argument})${valuesThat("NOT", isUnion)}`, "INTEGER[]"),
          // Values travel as text, and values of different members of a union may have the same text.
          column("union", `list(DISTINCT ${orderKey(argument)})${valuesThat("", isUnion)}`, "BLOB[]"),
        ],
        unnested: [own(""), own("union")],
        final: `count(DISTINCT ${q("")}) + count(DISTINCT ${q("union")})`,
      };
    case "list":
    case "quantile":
      return null;
  }
}

function filter(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` FILTER (WHERE ${conditions.join(" AND ")})`;
}

/**
 * Chan's formula, pair by pair. Sums of squares would lose the differences if the mean is large, and so would means as
 * a single DOUBLE. The sums of the high bits are exact for 2^27 rows, and so is their distance to a number with few
 * bits near the mean.
 */
function merged(state: Readonly<Record<"n" | "high" | "low" | "m2", string>>): string {
  const fields = Object.entries(state).map(([name, sql]) => `'${name}': ${sql}`);
  const states = `list({${fields.join(", ")}}) FILTER (WHERE ${state.n} > 0)`;
  const near = highBits("(a.high / a.n)");
  const distance = (of: string) => `((${of}.high - ${near} * ${of}.n) + ${of}.low) / ${of}.n`;
  const delta = `(${distance("b")} - ${distance("a")})`;
  const sum = (field: string) => `'${field}': a.${field} + b.${field}`;
  const m2 = `'m2': a.m2 + b.m2 + ${delta} * ${delta} * a.n * b.n / (a.n + b.n)`;
  return `list_reduce(${states}, lambda a, b: {${sum("n")}, ${sum("high")}, ${sum("low")}, ${m2}})`;
}

/**
 * The nearest DOUBLE with 26 bits (Veltkamp's split). Very large values stay as they are, because the product would
 * overflow.
 */
function highBits(value: string): string {
  const product = `${value} * 134217729`;
  return `(CASE WHEN abs(${value}) < 1e290 THEN ${product} - (${product} - ${value}) ELSE ${value} END)`;
}
