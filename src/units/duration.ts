/** Durations as people write them: milliseconds, or "30s", "500ms", "2m", "1h", "1d". */
import { OptionError } from "../errors/index.ts";
import type { Milliseconds } from "../protocol/index.ts";

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export function parseDuration(value: number | string, name: string): Milliseconds {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  const match = typeof value === "string" ? /^\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*$/i.exec(value) : null;
  const factor = match === null ? undefined : match[2] === "" ? 1 : UNITS[(match[2] ?? "").toLowerCase()];
  const duration = Number(match?.[1]) * (factor ?? Number.NaN);
  if (!Number.isFinite(duration)) {
    throw new OptionError(
      `${name}: ${JSON.stringify(value)} is not a duration. Give milliseconds, or a string such as "30s", "500ms" or "2m".`,
    );
  }
  return duration;
}

export function formatDuration(duration: Milliseconds): string {
  if (duration < 1) return `${Math.round(duration * 1000)}us`;
  if (duration < 1000) return `${duration < 10 ? duration.toFixed(1) : Math.round(duration)}ms`;
  if (duration < 60_000) return `${(duration / 1000).toFixed(1)}s`;
  const seconds = Math.round(duration / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
