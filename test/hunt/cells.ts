/**
 * Values as people write them into CSV and JSON files, several forms in one column and from file to file, and what may
 * become of each: whatever type a reader finds, the value must be the one that was written.
 */
import fc from "fast-check";

/** A value of a text file. `moment`: what it means where it is read as a date or timestamp, in milliseconds, UTC. */
export interface Cell {
  readonly text: string;
  readonly form: "missing" | "number" | "text" | "boolean" | "moment";
  readonly moment?: number;
}

const number = (text: string): Cell => ({ text, form: "number" });
const moment = (text: string, iso = text): Cell => ({ text, form: "moment", moment: Date.parse(iso) });

const MISSING: Cell = { text: "", form: "missing" };
const WHOLE = ["0", "1", "-7", "42", "2147483648", "9007199254740993", "-9223372036854775808"].map(number);
const HUGE = ["9223372036854775808", "18446744073709551615", "123456789012345678901234567890"].map(number);
const FRACTIONS = ["0.5", "2.5", "-1.25", "1e3", "0.1", "123456789.125"].map(number);
const DAYS = ["2024-02-29", "1969-12-31", "2024-03-10"].map((day) => moment(day, `${day}T00:00:00Z`));
const TIMES = [
  moment("2024-02-29 12:34:56", "2024-02-29T12:34:56Z"),
  moment("2024-03-10 02:30:00", "2024-03-10T02:30:00Z"),
  moment("2024-02-29T12:34:56.789", "2024-02-29T12:34:56.789Z"),
];
const ZONED = [
  moment("2024-02-29 12:34:56+02:00", "2024-02-29T12:34:56+02:00"),
  moment("2024-02-29T12:34:56Z"),
  moment("2024-02-29T23:30:00-05:00"),
];
const TEXTS = ["a", "it's", 'say "hi"', "two\nlines", "zoë", "NULL", "nan", "comma,semi;", "tab\t", " spaces "].map(
  (text): Cell => ({ text, form: "text" }),
);
const BOOLEANS = ["true", "false"].map((text): Cell => ({ text, form: "boolean" }));

const FORMS = [WHOLE, HUGE, FRACTIONS, DAYS, TIMES, ZONED, TEXTS, BOOLEANS];

/** The cells of a column: of one form, or of two. */
export const columnOfCells: fc.Arbitrary<fc.Arbitrary<Cell>> = fc
  .oneof(
    { weight: 2, arbitrary: fc.constantFrom(...FORMS).map((form) => [form]) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...FORMS), fc.constantFrom(...FORMS)) },
  )
  .map((forms) => {
    const cells = forms.map((form) => ({ weight: 4, arbitrary: fc.constantFrom(...form) }));
    return fc.oneof({ weight: 1, arbitrary: fc.constant(MISSING) }, ...cells);
  });

/** A number as its digits: no sign of plus, no zeros around, no exponent. */
function digits(text: string): string {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const negative = mantissa.startsWith("-");
  const [whole = "", fraction = ""] = mantissa.replace(/^[-+]/, "").split(".");
  const at = whole.length + Number(exponent);
  const all = (whole + fraction).padEnd(at, "0");
  const left = all.slice(0, Math.max(at, 0)).replace(/^0+/, "") || "0";
  const right = (at < 0 ? "0".repeat(-at) + all : all.slice(at)).replace(/0+$/, "");
  const value = right === "" ? left : `${left}.${right}`;
  return negative && value !== "0" ? `-${value}` : value;
}

/** What a value that was read, in exact form, says of a cell; null where it is the value that was written. */
export function wrongWith(cell: Cell, value: unknown, type: string): string | null {
  const wrong = `${JSON.stringify(cell.text)} was read as ${type} ${typeof value === "bigint" ? value : JSON.stringify(value)}`;
  if (cell.form === "missing" || value === null) return cell.form === "missing" && value === null ? null : wrong;
  // A column of several forms: each value as JSON writes it.
  if (type === "JSON") return asJson(cell, String(value)) ? null : wrong;
  if (type === "VARCHAR") return value === cell.text || sameNumber(cell, value) ? null : wrong;
  if (type === "BOOLEAN") return String(value) === cell.text ? null : wrong;
  // Written by us, it is the number that is none.
  if (type === "DOUBLE" && cell.text === "nan") return Number.isNaN(value) ? null : wrong;
  if (/^(DATE|TIMESTAMP)/.test(type)) return cell.moment === millis(value, type) ? null : wrong;
  if (cell.form !== "number") return wrong;
  // The nearest double of a fraction is what was meant; a whole number is that number.
  if (type === "DOUBLE" && /[.e]/.test(cell.text)) return value === Number(cell.text) ? null : wrong;
  const read = typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
  return digits(String(read)) === digits(cell.text) ? null : wrong;
}

/** Among texts a number of a JSON file is written as the kernel writes it. */
function sameNumber({ form, text }: Cell, value: unknown): boolean {
  return form === "number" && typeof value === "string" && /^[-+.\de]+$/i.test(value) && digits(value) === digits(text);
}

function asJson({ form, text }: Cell, value: string): boolean {
  if (form === "number") return digits(value) === digits(text);
  return form === "boolean" ? value === text : value === text || value === JSON.stringify(text);
}

function millis(value: unknown, type: string): number {
  if (typeof value !== "bigint") return Number.NaN;
  if (type === "DATE") return Number(value) * 86_400_000;
  const perSecond = type === "TIMESTAMP_S" ? 1 : type === "TIMESTAMP_MS" ? 1e3 : type === "TIMESTAMP_NS" ? 1e9 : 1e6;
  return (Number(value) / perSecond) * 1000;
}
