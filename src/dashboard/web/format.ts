/** Numbers with units, in the same words on every page. */
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function bytes(size: number | null | undefined): string {
  if (size === null || size === undefined) return "–";
  let value = Math.abs(size);
  let unit = 0;
  while (value >= 1023.95 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${size < 0 ? "−" : ""}${value.toFixed(digits)} ${BYTE_UNITS[unit] ?? ""}`;
}

export function exactBytes(size: number): string {
  return size < 1024 ? bytes(size) : `${bytes(size)} (${grouped.format(size)} bytes)`;
}

export function count(number: number | null | undefined): string {
  return number === null || number === undefined ? "–" : grouped.format(number);
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;
}

/** Rounded down: work is at 100 % only when it is done. */
export function wholePercent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

export function byteRate(perSecond: number): string {
  return `${bytes(perSecond)}/s`;
}

export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return "–";
  const ms = Math.max(0, milliseconds);
  if (ms < 1) return ms === 0 ? "0 ms" : "< 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The time of day; `at` counts from the session's epoch. */
export function clock(epoch: number, at: number, withMilliseconds = false): string {
  const date = new Date(epoch + at);
  const two = (part: number) => String(part).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMilliseconds ? `${time}.${String(date.getMilliseconds()).padStart(3, "0")}` : time;
}

export function dateTime(sinceEpoch: number): string {
  return new Date(sinceEpoch).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}

/** Shortens text from users, which may be megabytes long. */
export function short(text: string, most = 160): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${count(text.length)} characters)`;
}
