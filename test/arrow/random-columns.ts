/** Random types, and rows that hold values of them in the form in which exact options give them back. */
import fc from "fast-check";
import type { DataType, Field, Row, ValueOptions } from "../../src/arrow/index.ts";

/** Nothing is rounded with these. */
export const EXACT: ValueOptions = { int64: "bigint", decimal: "string", timestamp: "bigint" };

const unit = fc.constantFrom("s", "ms", "us", "ns") as fc.Arbitrary<"s" | "ms" | "us" | "ns">;

const leafType: fc.Arbitrary<DataType> = fc.oneof(
  fc.constant<DataType>({ kind: "bool" }),
  fc.record({
    kind: fc.constant("int" as const),
    bits: fc.constantFrom(8, 16, 32, 64) as fc.Arbitrary<8 | 16 | 32 | 64>,
    signed: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("float" as const),
    bits: fc.constantFrom(16, 32, 64) as fc.Arbitrary<16 | 32 | 64>,
  }),
  fc.record({
    kind: fc.constant("decimal" as const),
    precision: fc.constant(9),
    scale: fc.integer({ min: 0, max: 9 }),
    bits: fc.constantFrom(32, 64, 128, 256) as fc.Arbitrary<32 | 64 | 128 | 256>,
  }),
  fc.constant<DataType>({ kind: "decimal", precision: 38, scale: 10, bits: 128 }),
  fc.record({ kind: fc.constant("utf8" as const), large: fc.boolean() }),
  fc.record({ kind: fc.constant("binary" as const), large: fc.boolean() }),
  fc.record({ kind: fc.constant("fixedBinary" as const), width: fc.integer({ min: 1, max: 20 }) }),
  fc.record({
    kind: fc.constant("date" as const),
    unit: fc.constantFrom("day", "ms") as fc.Arbitrary<"day" | "ms">,
  }),
  fc.record({ kind: fc.constant("time" as const), unit }),
  fc.record({ kind: fc.constant("timestamp" as const), unit, timezone: fc.constantFrom(null, "UTC", "Europe/Berlin") }),
  fc.record({ kind: fc.constant("duration" as const), unit }),
  fc.record({
    kind: fc.constant("interval" as const),
    unit: fc.constantFrom("yearMonth", "dayTime", "monthDayNano") as fc.Arbitrary<
      "yearMonth" | "dayTime" | "monthDayNano"
    >,
  }),
  fc.constant<DataType>({ kind: "null" }),
);

const field = (name: string, type: DataType, nullable = true): Field => ({ name, type, nullable });

export function anyType(depth: number): fc.Arbitrary<DataType> {
  if (depth === 0) return leafType;
  const inner = anyType(depth - 1);
  return fc.oneof(
    { weight: 3, arbitrary: leafType },
    {
      weight: 1,
      arbitrary: fc
        .tuple(inner, fc.boolean())
        .map(([type, large]): DataType => ({ kind: "list", child: field("item", type), large })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(inner, fc.integer({ min: 1, max: 4 }))
        .map(([type, size]): DataType => ({ kind: "fixedList", child: field("item", type), size })),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(inner, { minLength: 1, maxLength: 3 })
        .map((types): DataType => ({ kind: "struct", children: types.map((type, index) => field(`f${index}`, type)) })),
    },
    {
      weight: 1,
      arbitrary: inner.map(
        (type): DataType => ({
          kind: "map",
          key: field("key", { kind: "utf8", large: false }, false),
          value: field("value", type),
        }),
      ),
    },
  );
}

const HALVES = [
  0,
  1,
  -1,
  0.5,
  1.5,
  65504,
  -65504,
  2 ** -24,
  2 ** -14,
  1023 * 2 ** -24,
  Infinity,
  -Infinity,
  Number.NaN,
];

function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const sign = unscaled < 0n ? "-" : "";
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Values of a type, a fifth of them null. */
export function valuesOf(type: DataType): fc.Arbitrary<unknown> {
  return type.kind === "null" ? fc.constant(null) : fc.option(presentValue(type), { freq: 4 });
}

function presentValue(type: DataType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case "bool":
      return fc.boolean();
    case "int":
      if (type.bits === 64)
        return type.signed ? fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) : fc.bigInt(0n, 2n ** 64n - 1n);
      return type.signed
        ? fc.integer({ min: -(2 ** (type.bits - 1)), max: 2 ** (type.bits - 1) - 1 })
        : fc.integer({ min: 0, max: 2 ** type.bits - 1 });
    case "float":
      if (type.bits === 16) return fc.constantFrom(...HALVES);
      return type.bits === 32 ? fc.float() : fc.double();
    case "decimal": {
      const limit = 10n ** BigInt(type.precision) - 1n;
      return fc.bigInt(-limit, limit).map((unscaled) => decimalText(unscaled, type.scale));
    }
    case "utf8":
      return fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.string({ minLength: 40, maxLength: 400 }));
    case "binary":
      return fc.uint8Array({ maxLength: 40 });
    case "fixedBinary":
      return fc.uint8Array({ minLength: type.width, maxLength: type.width });
    case "date":
      return type.unit === "day" ? fc.bigInt(-(2n ** 31n), 2n ** 31n - 1n) : fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    case "timestamp":
      return fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    case "time":
      return fc.integer({ min: 0, max: 86_399 }).map((seconds) => seconds * 1000);
    case "duration":
      return fc.integer({ min: -1_000_000, max: 1_000_000 }).map((seconds) => seconds * 1000);
    case "interval":
      return intervalOf(type.unit);
    case "list":
      return fc.array(valuesOf(type.child.type), { maxLength: 5 });
    case "fixedList":
      return fc.array(valuesOf(type.child.type), { minLength: type.size, maxLength: type.size });
    case "struct":
      return fc.record(Object.fromEntries(type.children.map((child) => [child.name, valuesOf(child.type)])));
    case "map":
      return fc
        .uniqueArray(fc.tuple(fc.string(), valuesOf(type.value.type)), { maxLength: 4, selector: ([key]) => key })
        .map((entries) => new Map(entries));
    default:
      return fc.constant(null);
  }
}

function intervalOf(kind: "yearMonth" | "dayTime" | "monthDayNano"): fc.Arbitrary<unknown> {
  const whole = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  switch (kind) {
    case "yearMonth":
      return whole.map((months) => ({ months, days: 0, nanos: 0n }));
    case "dayTime":
      return fc.tuple(whole, whole).map(([days, ms]) => ({ months: 0, days, nanos: BigInt(ms) * 1_000_000n }));
    case "monthDayNano":
      return fc.record({ months: whole, days: whole, nanos: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) });
  }
}

export interface RandomTable {
  readonly declared: ReadonlyMap<string, DataType>;
  readonly rows: readonly Row[];
}

const NAMES = ["a", "b c", '"quoted"', "__proto__", "ünï", "constructor", "line\nbreak"];

/** One to four columns of random types and up to `maxRows` rows of them. */
export function randomTable(maxRows = 40, types: (type: DataType) => boolean = () => true): fc.Arbitrary<RandomTable> {
  return fc
    .tuple(
      fc.shuffledSubarray(NAMES, { minLength: 1, maxLength: 4 }),
      fc.array(anyType(2).filter(types), { minLength: 4, maxLength: 4 }),
    )
    .chain(([names, types]) => {
      const declared = new Map(names.map((name, index) => [name, types[index] ?? { kind: "null" as const }]));
      const row = fc
        .tuple(...[...declared.values()].map(valuesOf))
        .map((values) => ownObject([...declared.keys()], values));
      return fc.array(row, { maxLength: maxRows }).map((rows) => ({ declared, rows }));
    });
}

/** Object.fromEntries defines own properties, "__proto__" too. */
function ownObject(names: readonly string[], values: readonly unknown[]): Row {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

/** True where the type, or one inside it, is of one of these kinds. */
export function contains(type: DataType, test: (type: DataType) => boolean): boolean {
  if (test(type)) return true;
  switch (type.kind) {
    case "list":
    case "fixedList":
      return contains(type.child.type, test);
    case "struct":
      return type.children.some((child) => contains(child.type, test));
    case "map":
      return contains(type.key.type, test) || contains(type.value.type, test);
    default:
      return false;
  }
}
