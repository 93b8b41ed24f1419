export * from "./frames.ts";
export * from "./job.ts";
export * from "./messages.ts";
export * from "./placeholders.ts";
export * from "./resources.ts";
export * from "./side-by-side.ts";
export * from "./stats.ts";
