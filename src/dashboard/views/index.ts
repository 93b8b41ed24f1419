/** What pages and programs get to see of a model. */
export { blocksView } from "./blocks.ts";
export { Board } from "./board.ts";
export { type Place, totalsCard } from "./cards.ts";
export { deathCards } from "./deaths.ts";
export { isLog, logFiles, logText, openLog } from "./logs.ts";
export { operatorDetails } from "./operator-details.ts";
export { profileFiles, profilePath, readFlame } from "./profiles.ts";
export { type TimeRange, taskStream } from "./task-stream.ts";
