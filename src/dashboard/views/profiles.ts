/** The heap profiles of a session. The code that reads them is loaded on first use. */
import { join } from "node:path";
import { PROFILES } from "../../protocol/index.ts";
import type { FlameProfile, ProfileFile } from "../api.ts";

/** The newest first. */
export async function profileFiles(logs: string): Promise<readonly ProfileFile[]> {
  const { listProfiles } = await import("../../profile/index.ts");
  return listProfiles(logs).map(({ header, ...file }) => file);
}

/** Null when there is no such file. */
export async function profilePath(logs: string, name: string): Promise<string | null> {
  const files = await profileFiles(logs);
  return files.some((file) => file.name === name) ? join(logs, PROFILES, name) : null;
}

export async function readFlame(path: string): Promise<FlameProfile> {
  const { flameProfile } = await import("../../profile/index.ts");
  return flameProfile(path);
}
