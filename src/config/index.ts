/**
 * Settings: what there is to set, who has set it, and what is in force. What that comes to on a machine is the
 * session's.
 */
export type { Duration, Size } from "./kinds.ts";
export { settingsTable } from "./markdown.ts";
export { type Config, readConfig } from "./read-config.ts";
export { type Preset, SCHEMA, type Settings } from "./schema.ts";
export type { ResourceLimits, SessionOptions, WorkerOptions } from "./session-options.ts";
export { leaves, type Setting, shownDefault } from "./setting.ts";
export type { Source } from "./source.ts";
export { variableOf } from "./variables.ts";
