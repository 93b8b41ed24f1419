/** Which seeds are played together: a round has a process, sessions and a time zone of its own. */
export const ROUND = 20;

/** West and east of UTC, half hours, and a place that left a day out. */
export const ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia"] as const;

export const roundOf = (seed: number): number => Math.floor(seed / ROUND);

export function zoneOf(round: number): string {
  return ZONES[round % ZONES.length] ?? "UTC";
}
