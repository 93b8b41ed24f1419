/**
 * What people read about a session: the report, the trace, and the story of each death. All of it is made from the
 * session's events.
 */
export { type BlockGroup, blockGroups, largestBlocks } from "./blocks.ts";
export { type Death, deathsOf, headOf } from "./deaths.ts";
export { lineOf } from "./happened.ts";
export { shortened } from "./shortened.ts";
export { traceOf } from "./trace.ts";
export { reportText, sendTrace, writeReport, writeTrace } from "./write.ts";
