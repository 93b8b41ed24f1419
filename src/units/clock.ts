/** A clock that all processes of a machine share and that is never set, unlike the time of day. In milliseconds. */
export function systemClock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A time by `performance.now()` of this process, by the system's clock. Never earlier than it was. */
export function onSystemClock(time: number): number {
  // In this order, a pause between the two calls makes the result later.
  const now = performance.now();
  return time + systemClock() - now;
}
