/** Dates and instants as ISO 8601 text, for columns with a declared type. Strict: no other spelling is accepted. */

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?$/;
const DAY_SECONDS = 86_400;

/** Whole seconds since 1970 in UTC, and the nanoseconds after them. */
interface IsoInstant {
  readonly seconds: number;
  readonly nanos: number;
}

/** Days since 1970; null if the text is no date. */
export function isoDay(text: string): number | null {
  const found = DAY.exec(text);
  if (found === null) return null;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // The 30th of February would become a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return date.getTime() / (DAY_SECONDS * 1000);
}

/** A date alone means its midnight. A time without an offset is in UTC, like that of a Date. */
export function isoInstant(text: string): IsoInstant | null {
  const midnight = isoDay(text);
  if (midnight !== null) return { seconds: midnight * DAY_SECONDS, nanos: 0 };
  const found = INSTANT.exec(text);
  const day = isoDay(found?.[1] ?? "");
  if (found === null || day === null) return null;
  const [hours, minutes, seconds] = [Number(found[2]), Number(found[3]), Number(found[4] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  return {
    seconds: day * DAY_SECONDS + hours * 3600 + minutes * 60 + seconds - offsetSeconds(found[6]),
    nanos: Number((found[5] ?? "").padEnd(9, "0")),
  };
}

function offsetSeconds(offset: string | undefined): number {
  if (offset === undefined || offset === "Z") return 0;
  const seconds = Number(offset.slice(1, 3)) * 3600 + Number(offset.slice(-2)) * 60;
  return offset.startsWith("-") ? -seconds : seconds;
}
