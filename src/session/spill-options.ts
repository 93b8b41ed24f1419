/** Where spilled blocks go: local directories, quota, compression. */
import { tmpdir } from "node:os";
import type { ResolvedSettings, Settings, Size } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import { localPath, notLocal } from "../files/index.ts";
import type { Bytes } from "../protocol/index.ts";
import { checkZstd } from "../store/spill/zstd.ts";

export function spilling(
  settings: Settings,
  size: (name: "maxSpill", value: Size) => Bytes,
): Pick<ResolvedSettings, "localDirectory" | "localDirectories" | "maxSpill"> {
  const { maxSpill, spillCompression, localDirectory: given = tmpdir() } = settings;
  checkZstd(spillCompression);
  const directories = [...new Set((typeof given === "string" ? [given] : given).map(checkedDirectory))];
  return {
    localDirectory: directories[0] ?? tmpdir(),
    localDirectories: directories,
    maxSpill: maxSpill === undefined ? null : size("maxSpill", maxSpill),
  };
}

function checkedDirectory(given: string): string {
  const path = localPath(given);
  if (path === null) throw new OptionError(`session: localDirectory ${notLocal(given, "written")}`);
  return path;
}
