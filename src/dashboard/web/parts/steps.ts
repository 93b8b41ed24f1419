/** The steps of a worker's memory ladder, in words. */
import type { SessionCard } from "../../api.ts";
import { bytes, percent } from "../format.ts";

const NO_BREAK = "\u00a0";

export function stepWords({ thresholds }: SessionCard, limit: number | null): string {
  const steps = Object.entries(thresholds).map(([name, share]) => {
    const size = share === false || limit === null ? "" : `, ${bytes(share * limit)}`;
    return `${name} ${share === false ? "off" : percent(share).replace(" ", NO_BREAK)}${size}`;
  });
  return steps.join("; ");
}
