/**
 * SQL that converts the texts of a CSV file without losing anything. A text that does not fit its column's type ends
 * the query with a `Misfit`, which the worker turns into an error with file and line. The macros `spillway_…` are
 * defined in the kernel (`src/kernel/exact-texts.ts`).
 */
import { quoteText } from "../../arrow/index.ts";
import { MISFIT, type Misfit } from "../../csv/index.ts";

/** How texts are written, if not as ISO dates and with a decimal point. */
export interface TextFormats {
  readonly dateFormat: string | null;
  readonly timestampFormat: string | null;
  readonly decimal: string | null;
}

/** A set of kinds that a column's texts may have, as `spillway_kinds` returns it. */
export type Kinds = number;
export const ANY_KIND: Kinds = 255;

/** In order of preference. */
const KINDS: readonly { readonly bit: Kinds; readonly type: string; readonly name: string }[] = [
  { bit: 1, type: "BOOLEAN", name: "boolean" },
  { bit: 2, type: "BIGINT", name: "bigint" },
  { bit: 4, type: "DOUBLE", name: "double" },
  { bit: 8, type: "DATE", name: "date" },
  { bit: 16, type: "TIMESTAMP", name: "timestamp" },
  { bit: 32, type: "TIMESTAMP_NS", name: "timestamp_ns" },
  { bit: 64, type: "TIMESTAMP WITH TIME ZONE", name: "timestamptz" },
  { bit: 128, type: "TIME", name: "time" },
];
const DATE = 8;
const TIMES = 16 + 32 + 64;

/** The type of a column whose texts all have these kinds; null if only text fits. */
export function typeOfKinds(kinds: Kinds, formats: TextFormats): string | null {
  if (kinds === ANY_KIND) return null;
  const first = [
    ...(formats.dateFormat === null ? [] : [DATE]),
    ...(formats.timestampFormat === null ? [] : [zoned(formats.timestampFormat) ? 64 : 16]),
  ];
  const bit = first.find((wanted) => (kinds & wanted) !== 0);
  return KINDS.find((kind) => (bit === undefined ? (kinds & kind.bit) !== 0 : kind.bit === bit))?.type ?? null;
}

/** SQL for the kinds of a text, as a number. */
export function kindsSql(text: string, formats: TextFormats): string {
  const { dateFormat, timestampFormat } = formats;
  let sql = `spillway_kinds(${withPoint(text, formats)})`;
  if (formats.decimal === ",")
    sql = `(${sql} & CASE WHEN contains(${text}, '.') THEN ${ANY_KIND - 4} ELSE ${ANY_KIND} END)`;
  if (dateFormat !== null)
    sql = `((${sql} & ${ANY_KIND - DATE}) | CASE WHEN ${asDate(text, dateFormat).fits} THEN ${DATE} ELSE 0 END)`;
  if (timestampFormat !== null) {
    const bit = zoned(timestampFormat) ? 64 : 16;
    const fits = `try_strptime(${text}, ${quoteText(timestampFormat)}) IS NOT NULL`;
    sql = `((${sql} & ${ANY_KIND - TIMES}) | CASE WHEN ${fits} THEN ${bit} ELSE 0 END)`;
  }
  return `CASE WHEN ${text} IS NULL OR ${text} = '' THEN ${ANY_KIND} ELSE ${sql} END`;
}

interface Reading {
  /** SQL that is true if the text is a value of the type; false or null otherwise. */
  readonly fits: string;
  readonly value: string;
  /**
   * The same for the way in which most values are written, as SQL over the value, the cheapest first. False or null if
   * the condition cannot tell.
   */
  readonly plain?: (value: string) => readonly string[];
  /** Used instead of `plain`: SQL that is false or null only if text and value are the same, or both null. */
  readonly odd?: (value: string) => string;
}

interface TextColumn {
  readonly name: string;
  readonly type: string;
  /** The user declared the type. Then the text need not come back as it was; only the value must be the same. */
  readonly declared: boolean;
}

/** What `valueSql` looks at, in a column of its own, so that it is computed once; null if it needs only the text. */
export function castSql(text: string, column: TextColumn, formats: TextFormats): string | null {
  return readingOf(text, column, formats)?.value ?? null;
}

/** SQL for the value of a text. `file` is SQL for its path, `cast` for the column of `castSql`, if there is one. */
export function valueSql(
  text: string,
  column: TextColumn,
  formats: TextFormats,
  misfit: Misfit,
  file: string,
  cast: string | null = null,
): string {
  const reading = readingOf(text, column, formats);
  if (reading === null) return text;
  const facts = `to_json({'file': ${file}, 'text': left(${text}, 200)})`;
  const failure = `error(${quoteText(`${MISFIT}${JSON.stringify(misfit)}\n`)} || ${facts})`;
  const isEmpty = `${text} IS NULL OR ${text} = ''`;
  if (cast === null || (reading.plain === undefined && reading.odd === undefined))
    return `CASE WHEN ${reading.fits} THEN ${cast ?? reading.value} WHEN ${isEmpty} THEN NULL ELSE ${failure} END`;
  const thorough = `WHEN ${isEmpty} THEN NULL WHEN ${reading.fits} THEN ${cast} ELSE ${failure} END`;
  if (reading.odd !== undefined) return `CASE WHEN ${reading.odd(cast)} THEN CASE ${thorough} ELSE ${cast} END`;
  const plain = reading.plain?.(cast).map((condition) => `WHEN ${condition} THEN ${cast} `) ?? [];
  return `CASE ${plain.join("")}${thorough}`;
}

/** SQL that is true if a text can be read; null if every text can. */
export function readableSql(text: string, column: TextColumn, formats: TextFormats): string | null {
  const reading = readingOf(text, column, formats);
  return reading === null ? null : `(${text} IS NULL OR ${text} = '' OR coalesce(${reading.fits}, FALSE))`;
}

function readingOf(text: string, { type, declared }: TextColumn, formats: TextFormats): Reading | null {
  const upper = type.toUpperCase();
  if (/^(VARCHAR|TEXT|STRING|CHAR|BPCHAR)\b/.test(upper) && !upper.endsWith("]")) return null;
  const { dateFormat, timestampFormat } = formats;
  if (upper === "DATE" && dateFormat !== null) return asDate(text, dateFormat);
  if (timestampFormat !== null && /^(TIMESTAMP|DATETIME)/.test(upper)) {
    const parsed = `try_strptime(${text}, ${quoteText(timestampFormat)})`;
    return { fits: `${parsed} IS NOT NULL`, value: `CAST(${parsed} AS ${type})` };
  }
  const number = withPoint(text, formats);
  const isNumber = formats.decimal === "," ? `NOT contains(${text}, '.') AND ` : "";
  const quick = formats.decimal === "," && isNumeric(upper) ? {} : quickReading(text, upper, declared);
  if (declared) return { ...declaredReading(text, number, isNumber, type, upper), ...quick };
  const kind = KINDS.find((each) => each.type === type)?.name ?? "";
  if (kind === "double") {
    return { fits: `${isNumber}spillway_fits_double(${number})`, value: `TRY_CAST(${number} AS DOUBLE)`, ...quick };
  }
  return { fits: `spillway_fits_${kind}(${text})`, value: `TRY_CAST(${text} AS ${type})`, ...quick };
}

const isNumeric = (upper: string) => WHOLE.test(upper) || FLOATING.test(upper);

function quickReading(text: string, upper: string, declared: boolean): Pick<Reading, "plain" | "odd"> {
  if (WHOLE.test(upper)) {
    return { plain: (value) => [`spillway_plain_whole(${text}, ${value})`, `CAST(${value} AS VARCHAR) = ${text}`] };
  }
  if (upper === "DATE") return { plain: (value) => [`spillway_plain_date(${text}, ${value})`] };
  if (upper === "TIMESTAMP") return { plain: (value) => [`spillway_plain_timestamp(${text}, ${value})`] };
  // For a declared floating point type the nearest number is good enough.
  if (declared && FLOATING.test(upper))
    return { odd: (value) => `(${value} IS NULL AND ${text} <> '') OR NOT isfinite(${value})` };
  return upper === "DOUBLE" ? { odd: (value) => `spillway_odd_double(${text}, ${value})` } : {};
}

const WHOLE = /^(U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|INT[1248]|SIGNED|SHORT|LONG|UINT\w*|INT(8|16|32|64|128))$/;
const FLOATING = /^(DOUBLE|FLOAT|REAL)/;
const DAY = "[0-9]{4,6}[-/][0-9]{1,2}[-/][0-9]{1,2}";
const CLOCK = "[0-9]{1,2}:[0-9]{2}";
const UTC = "(?: ?(?:Z|UTC|[-+]00(?::?00)?))?";
/** How many digits of a second a type keeps. */
const FRACTIONS: Readonly<Record<string, number>> = { TIMESTAMP_S: 0, TIMESTAMP_MS: 3, TIMESTAMP_NS: 9 };
const seconds = (digits: number) => `(?::[0-9]{2}(?:\\.${digits === 0 ? "" : `[0-9]{1,${digits}}`}0*)?)?`;

function declaredReading(text: string, number: string, isNumber: string, type: string, upper: string): Reading {
  const whole = `TRY_CAST(${number} AS ${type})`;
  const cast = `TRY_CAST(${text} AS ${type})`;
  // Also accepts what the kernel itself writes for the value: far years, "(BC)", "infinity".
  const matching = (pattern: string): Reading => ({
    fits: `(regexp_full_match(${text}, ${quoteText(pattern)}) OR CAST(${cast} AS VARCHAR) = ${text}) AND ${cast} IS NOT NULL`,
    value: cast,
  });
  if (WHOLE.test(upper)) {
    const written = `regexp_full_match(${number}, ' *[-+]?[0-9]+(?:\\.0*)? *') AND ${whole} IS NOT NULL`;
    return { fits: `${isNumber}(CAST(${whole} AS VARCHAR) = ${text} OR (${written}))`, value: whole };
  }
  if (FLOATING.test(upper)) {
    // These types store the nearest number. A text without any such number is an error.
    const words = `regexp_full_match(trim(${text}), '(?i)[-+]?(?:nan|inf|infinity)')`;
    return { fits: `${isNumber}(isfinite(${whole}) OR (${whole} IS NOT NULL AND ${words}))`, value: whole };
  }
  if (/^(DECIMAL|NUMERIC|DEC)\b/.test(upper))
    return { fits: `${isNumber}${exactDecimal(number, whole, upper)}`, value: whole };
  if (upper === "DATE") return matching(`${DAY}(?:[ T]00:00(?::00(?:\\.0*)?)?${UTC})?`);
  if (/^(TIMESTAMPTZ|TIMESTAMP WITH TIME ZONE)$/.test(upper)) return matching(`${DAY}(?:[ T]${CLOCK}${seconds(6)}.*)?`);
  if (/^(TIMESTAMP|DATETIME)/.test(upper)) {
    return matching(`${DAY}(?:[ T]${CLOCK}${seconds(FRACTIONS[upper] ?? 6)}${UTC})?`);
  }
  if (upper === "TIME") return matching(`${CLOCK}${seconds(6)}`);
  return { fits: `${cast} IS NOT NULL`, value: cast };
}

function exactDecimal(number: string, cast: string, upper: string): string {
  const [, , scale = upper.includes("(") ? "0" : "3"] = /\(\s*(\d+)\s*(?:,\s*(\d+))?/.exec(upper) ?? [];
  const fraction = `strlen(rtrim(regexp_extract(${number}, '\\.([0-9]*)', 1), '0')) <= ${scale}`;
  const exponent = `regexp_matches(${number}, '[eE]')`;
  const same = `CAST(${cast} AS DOUBLE) = TRY_CAST(${number} AS DOUBLE)`;
  return `${cast} IS NOT NULL AND CASE WHEN ${exponent} THEN ${same} ELSE ${fraction} END`;
}

function asDate(text: string, format: string): Reading {
  const parsed = `try_strptime(${text}, ${quoteText(format)})`;
  return { fits: `CAST(${parsed} AS DATE) = ${parsed}`, value: `CAST(${parsed} AS DATE)` };
}

/** Turns a decimal comma into a point. A text that contains a point is then no number. */
function withPoint(text: string, { decimal }: TextFormats): string {
  return decimal === "," ? `CASE WHEN contains(${text}, '.') THEN ${text} ELSE replace(${text}, ',', '.') END` : text;
}

function zoned(format: string): boolean {
  return /%z|%Z/.test(format);
}
