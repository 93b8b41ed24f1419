/** Functions that compute something whose meaning SQL knows too. Values come exactly: bigints, decimals as texts. */
import {
  type Any,
  type Maker,
  NO_ORDER,
  named,
  quoted,
  quotedList,
  type Shape,
  without,
} from "../end-to-end/differential/step.ts";

/** With one more column, or another in the place of one. */
function withMore({ columns, order }: Shape, name: string, kind: "number" | "text" | "boolean") {
  return { columns: new Map([...columns, [name, kind] as const]), order: without(order, name), known: false };
}

const more = (columns: ReadonlyMap<string, unknown>, name: string, sql: string) => (input: string) =>
  columns.has(name)
    ? `SELECT * REPLACE (${sql} AS ${quoted(name)}) FROM ${input}`
    : `SELECT *, ${sql} AS ${quoted(name)} FROM ${input}`;

export const FUNCTIONS: readonly Maker[] = [
  function mapNumber(shape, choice, _, values, declared) {
    const numbers = named(shape.columns, "number");
    if (numbers.length === 0) return null;
    const name = choice.of(numbers);
    // Which column a computed name makes anew cannot be told from the source, so that none keeps its type by itself.
    const [into, batches, async] = [choice.of(["twice", name]), choice.chance(2), choice.chance(2)];
    const schema = declared([...shape.columns.keys()].filter((other) => other !== into));
    return {
      ...withMore(shape, into, "number"),
      name: `${batches ? "mapBatches" : "map"}(${into}: twice ${name}${async ? ", async" : ""})`,
      apply(ds) {
        const twice = (x: unknown) => (x === null ? null : Number(x) * 2);
        if (batches) {
          const fn = (batch: Any) => ({ ...batch, [into]: Array.from(batch[name], twice) });
          return ds.mapBatches(async ? async (batch: Any) => fn(batch) : fn, { batchSize: 5, ...values, ...schema });
        }
        const fn = (row: Any) => ({ ...row, [into]: twice(row[name]) });
        return ds.map(async ? async (row: Any) => fn(row) : fn, { ...values, ...schema });
      },
      sql: more(shape.columns, into, `CAST(${quoted(name)} AS DOUBLE) * 2`),
    };
  },
  function mapText(shape, choice, _, values, declared) {
    const texts = named(shape.columns, "text");
    if (texts.length === 0) return null;
    const name = choice.of(texts);
    if (choice.chance(2)) {
      return {
        ...withMore(shape, "characters", "number"),
        name: `map(characters of ${name})`,
        apply: (ds) =>
          ds.map((row: Any) => ({ ...row, characters: row[name] === null ? null : [...row[name]].length }), values),
        sql: more(shape.columns, "characters", `length(${quoted(name)}::VARCHAR)`),
      };
    }
    const schema = declared([...shape.columns.keys()].filter((other) => other !== name));
    return {
      ...withMore(shape, name, "text"),
      name: `map(${name} + "é'")`,
      apply: (ds) =>
        ds.map((row: Any) => ({ ...row, [name]: row[name] === null ? null : `${row[name]}é'` }), {
          ...values,
          ...schema,
        }),
      sql: more(shape.columns, name, `${quoted(name)}::VARCHAR || 'é'''`),
    };
  },
  function mapMissing(shape, choice, _, values) {
    const name = choice.of([...shape.columns.keys()]);
    return {
      ...withMore(shape, "missing", "boolean"),
      name: `map(missing: ${name} === null)`,
      apply: (ds) => ds.map((row: Any) => ({ ...row, missing: row[name] === null }), values),
      sql: more(shape.columns, "missing", `${quoted(name)} IS NULL`),
    };
  },
  function mapAway(shape, choice, _, values, declared) {
    if (shape.columns.size < 2) return null;
    const name = choice.of([...shape.columns.keys()]);
    const schema = declared([...shape.columns.keys()].filter((other) => other !== name));
    return {
      columns: new Map([...shape.columns].filter(([other]) => other !== name)),
      order: without(shape.order, name),
      known: false,
      name: `map(without ${name})`,
      apply: (ds) =>
        ds.map(
          (row: Any) => {
            const { [name]: _gone, ...rest } = row;
            return rest;
          },
          { ...values, ...schema },
        ),
      sql: (input) => `SELECT * EXCLUDE (${quoted(name)}) FROM ${input}`,
    };
  },
  function filterPresent(shape, choice, _, values) {
    const name = choice.of([...shape.columns.keys()]);
    return {
      ...shape,
      name: `filter(${name} !== null)`,
      apply: (ds) => ds.filter((row: Any) => row[name] !== null, values),
      sql: (input) => `FROM ${input} WHERE ${quoted(name)} IS NOT NULL`,
    };
  },
  function filterNumber(shape, choice, _, values) {
    const numbers = named(shape.columns, "number");
    if (numbers.length === 0) return null;
    const name = choice.of(numbers);
    const least = choice.below(9) - 4;
    return {
      ...shape,
      name: `filter(${name} > ${least} in a function)`,
      apply: (ds) => ds.filter((row: Any) => row[name] !== null && Number(row[name]) > least, values),
      sql: (input) => `FROM ${input} WHERE ${quoted(name)} > ${least}`,
    };
  },
  function flatMapList(shape, choice, _, values) {
    const lists = named(shape.columns, "list");
    if (lists.length === 0) return null;
    const name = choice.of(lists);
    return {
      ...withMore(shape, "item", "number"),
      order: shape.order === "total" ? "total" : without(shape.order, "item"),
      name: `flatMap(items of ${name})`,
      apply: (ds) =>
        ds.flatMap(function* (row: Any) {
          for (const item of row[name] ?? []) yield { ...row, item };
        }, values),
      sql: more(shape.columns, "item", `unnest(${quoted(name)})`),
    };
  },
  function classOfBatches(shape, choice, _, values, declared) {
    const batchFormat = choice.of(["columns", "rows", "arrow"] as const);
    const schema = declared([...shape.columns.keys()]);
    return {
      ...shape,
      known: false,
      name: `mapBatches(class, ${batchFormat})`,
      apply(ds) {
        class Same {
          call(batch: Any) {
            return batch;
          }
        }
        return ds.mapBatches(Same as Any, { batchFormat, batchSize: 4, ...values, ...schema });
      },
      sql: (input) => `FROM ${input}`,
    };
  },
  function sumOfGroups({ columns }, choice, _, values, declared) {
    const numbers = named(columns, "number");
    const keys = choice.some(
      [...columns.keys()].filter((key) => !["total", "rows"].includes(key)),
      2,
    );
    if (numbers.length === 0) return null;
    const name = choice.of(numbers);
    const kinds = keys.map((key) => [key, columns.get(key) ?? "number"] as const);
    if (kinds.some(([, kind]) => ["list", "struct", "bag", "approximate", "wide", "span"].includes(kind))) return null;
    const schema = declared(keys);
    return {
      columns: new Map([...kinds, ["rows", "number"], ["total", "number"]]),
      order: NO_ORDER,
      known: false,
      name: `groupBy(${keys}).mapGroups(sum of ${name})`,
      apply: (ds) =>
        ds.groupBy(...keys).mapGroups(
          (group: Any) => {
            const given = group.filter((row: Any) => row[name] !== null);
            return [
              {
                ...Object.fromEntries(keys.map((key) => [key, group[0][key]])),
                rows: group.length,
                total: given.length === 0 ? null : given.reduce((sum: number, row: Any) => sum + Number(row[name]), 0),
              },
            ];
          },
          { batchFormat: "rows", ...values, ...schema },
        ),
      sql: (input) =>
        `SELECT ${quotedList(keys)}, count(*) AS "rows", sum(${quoted(name)}) AS total FROM ${input} GROUP BY ${quotedList(keys)}`,
    };
  },
];
