/**
 * Settings: their schema, their sources, and the values in force. `src/session/` works out what the values mean on a
 * machine.
 */
export { runVariable, unknownOption } from "./arguments.ts";
export type { Duration, Size } from "./kinds.ts";
export { settingsTable } from "./markdown.ts";
export { type Config, readConfig } from "./read-config.ts";
export { plainSettings, type ResolvedSettings } from "./resolved.ts";
export { type Preset, SCHEMA, type Settings } from "./schema.ts";
export type { ResourceLimits, SessionOptions, WorkerOptions } from "./session-options.ts";
export { leaves, type Setting, shownDefault } from "./setting.ts";
export { settingsShown } from "./shown.ts";
export { variableOf } from "./variables.ts";
