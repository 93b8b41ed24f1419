export { onSystemClock, systemClock } from "./clock.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { nearest } from "./nearest.ts";
export { needText } from "./need.ts";
export { formatSize, parseSize } from "./size.ts";
