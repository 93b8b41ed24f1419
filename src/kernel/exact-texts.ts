/**
 * SQL macros that convert texts without losing anything. A CAST rounds '2.5' to a whole number and drops the zeros of
 * '00123', the time of a DATE and the offset of a TIMESTAMP. `spillway_fits_…(x)` says whether a text is exactly a
 * value of the type. `spillway_kinds(x)` says which types it could be, as a sum of bits: boolean 1, bigint 2, double 4,
 * date 8, timestamp 16, timestamp_ns 32, timestamptz 64, time 128, and 0 for plain text. `spillway_plain_…(x, v)`
 * proves, at half the price, that `v` (the TRY_CAST of x) is all of x; false or null means that it could not tell.
 * `spillway_odd_…(x, v)` is the reverse: it is false or null only if that is proved, or if both are null. Readers of
 * text use the macros by name.
 */

/** The kinds of null and of the empty text, which may be of any type. */
const ALL = 255;
const bit = (kind: string, value: number) => `CASE WHEN spillway_fits_${kind}(x) THEN ${value} ELSE 0 END`;

const NUMBER = "' *-?(?:\\.[0-9]+|(?:0|[1-9][0-9]*)(?:\\.[0-9]*)?)(?:[eE][-+]?[0-9]+)? *'";
// A pattern, because the kernel makes a join of a list of words, for each column.
const WORDS = "'-?(?:nan|NaN|inf|Inf|Infinity)'";
/** The digits without sign, point, exponent, and zeros at both ends. */
const DIGITS = "rtrim(regexp_replace(x, '^ *-?[0.]*|[eE].*$|[. ]', '', 'g'), '0')";
const DAY = "[0-9]{4,6}-[0-9]{2}-[0-9]{2}";
const CLOCK = "[0-9]{2}:[0-9]{2}";
/** Zeros after the last digit that a type can hold lose nothing. */
const seconds = (digits: number) => `(?::[0-9]{2}(?:\\.[0-9]{1,${digits}}0*)?)?`;

/** Powers of ten by the number of digits, from 1. */
const POWERS = `[${Array.from({ length: 18 }, (_, zeros) => `1${"0".repeat(zeros)}`).join(", ")}]::BIGINT[]`;

/** SQL that is true if the text is what the type prints for its own value. */
const same = (type: string) => `coalesce(CAST(TRY_CAST(x AS ${type}) AS VARCHAR) = x, FALSE)`;
const written = (pattern: string, type: string) =>
  `coalesce(CASE WHEN regexp_full_match(x, '${pattern}') THEN TRY_CAST(x AS ${type}) IS NOT NULL END, FALSE)`;

const macros: Readonly<Record<string, string>> = {
  // A double is exact if it prints the digits that were read, even if it could hold fewer or more.
  "exact_double(x)": `coalesce(CASE WHEN regexp_full_match(x, ${NUMBER}) THEN rtrim(regexp_replace(format('{:.' || least(greatest(strlen(${DIGITS}) - 1, 0), 40) || 'e}', abs(TRY_CAST(x AS DOUBLE))), '[.]|e.*$', '', 'g'), '0') = ${DIGITS} ELSE regexp_full_match(x, ${WORDS}) END, FALSE)`,
  // If a whole number begins with a digit other than 0 and has at least as many digits as its text has characters, the
  // text is that number, or the text has an exponent. An exponent appends at least two zeros, which the remainder
  // excludes.
  "plain_whole(x, v)": `x >= '1' AND v % 100 <> 0 AND v >= list_extract(${POWERS}, strlen(x))`,
  // A double holds any fifteen digits: a text that begins with a digit other than 0 is the number, unless it contains a
  // `_` or its exponent is out of range. The macro says what is odd, because the kernel sorts out the rows for which an
  // OR is true: with most rows that costs a sixth of all proofs, with a few rows nothing.
  "odd_double(x, v)": `(v IS NULL AND x <> '') OR strlen(x) > 15 OR contains(x, '_') OR
    (x >= '1' AND (v < 1e-290 OR v > 1e300)) OR (x < '1' AND NOT spillway_small_double(x, v))`,
  "small_double(x, v)": `x = '0' OR x = '0.0' OR (abs(v) BETWEEN 1e-290 AND 1e300 AND
    ((x >= '0.' AND x < '0/') OR (x >= '-1' AND x < '-:') OR (x >= '-0.' AND x < '-0/')))`,
  "plain_date(x, v)": `CAST(v AS VARCHAR) = x`,
  // With the marks at these places, the other characters can only be digits, and the last one a space or a Z.
  "plain_timestamp(x, v)": `v IS NOT NULL AND x LIKE '____-__-_____:__:__' AND x >= '0' AND NOT suffix(x, ' ') AND NOT suffix(x, 'Z')`,
  "fits_boolean(x)": `x = 'true' OR x = 'false' OR lower(x) = 'true' OR lower(x) = 'false'`,
  "fits_bigint(x)": `${same("BIGINT")} OR ${written(" *(?:0|-?[1-9][0-9]*) *", "BIGINT")}`,
  "fits_double(x)": `NOT coalesce(spillway_odd_double(x, TRY_CAST(x AS DOUBLE)), TRUE) OR spillway_exact_double(x)`,
  "fits_date(x)": same("DATE"),
  "fits_timestamp(x)": `${same("TIMESTAMP")} OR ${written(`${DAY}(?:[ T]${CLOCK}${seconds(6)})?`, "TIMESTAMP")}`,
  "fits_timestamp_ns(x)": `${same("TIMESTAMP_NS")} OR ${written(`${DAY}(?:[ T]${CLOCK}${seconds(9)})?`, "TIMESTAMP_NS")}`,
  "fits_timestamptz(x)": written(
    `[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]${CLOCK}${seconds(6)}(?:Z| UTC|[-+][0-9]{2}(?::?[0-9]{2})?)`,
    "TIMESTAMPTZ",
  ),
  "fits_time(x)": written(`${CLOCK}${seconds(6)}`, "TIME"),
  "kinds(x)": `CASE WHEN x IS NULL OR x = '' THEN ${ALL} WHEN spillway_fits_bigint(x) THEN 2 + ${bit("double", 4)} WHEN spillway_fits_double(x) THEN 4 WHEN spillway_fits_boolean(x) THEN 1 WHEN spillway_fits_timestamp(x) OR spillway_fits_timestamp_ns(x) THEN ${bit("date", 8)} + ${bit("timestamp", 16)} + ${bit("timestamp_ns", 32)} WHEN spillway_fits_timestamptz(x) THEN 64 WHEN spillway_fits_time(x) THEN 128 ELSE 0 END`,
};

export const EXACT_TEXTS = Object.entries(macros)
  .map(([name, sql]) => `CREATE MACRO spillway_${name} AS (${sql});`)
  .join(" ");
