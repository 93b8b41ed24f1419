/** What the dashboard knows of a session, and where it learns it. */
export { feedFromFile, feedLive, type LiveSession } from "./feed.ts";
export { SessionModel } from "./model.ts";
export { titleOf } from "./operator-title.ts";
export type { PointSeries } from "./series.ts";
export { sumOfKinds } from "./session-series.ts";
export { shownJobs } from "./shown-jobs.ts";
export { KINDS } from "./spans.ts";
export { Top } from "./top.ts";
