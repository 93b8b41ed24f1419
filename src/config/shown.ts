/** The settings in force as they are shown to people: by `spillway config`, on the dashboard, in reports. */
import type { SettingShown } from "../protocol/index.ts";
import type { Config } from "./read-config.ts";
import { SCHEMA } from "./schema.ts";
import { leaves, shownDefault } from "./setting.ts";

/** Their values may be secret: only the names in them, or that there is one, may be shown. */
const SECRET: ReadonlySet<string> = new Set(["workerEnv", "data"]);

export function settingsShown({ inForce, sources }: Config): readonly SettingShown[] {
  return leaves(SCHEMA).map(([path, setting]) => {
    const value = inForce.get(path);
    const shown = value === undefined ? `(${shownDefault(setting)})` : textOf(path, value);
    return { path, value: shown, from: sources.get(path)?.name ?? "default" };
  });
}

function textOf(path: string, value: unknown): string {
  if (!SECRET.has(path)) return JSON.stringify(value);
  const isTexts = path === "workerEnv" && typeof value === "object" && value !== null;
  return isTexts ? `{${Object.keys(value).join(", ")}} (values are not shown)` : "(set)";
}
