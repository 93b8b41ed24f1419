/** Metrics of a session in Prometheus format. Loaded with the first scrape. */
export { SessionMetrics } from "./metrics.ts";
export { METRICS } from "./names.ts";
