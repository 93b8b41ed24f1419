/**
 * A Python environment that is made once, from pinned versions. If it cannot be made (no Python, no network), the
 * caller goes on without it, and says why in one line.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { places } from "../places.ts";

export type OwnPython =
  | { readonly kind: "ready"; readonly python: string; readonly versions: Readonly<Record<string, string>> }
  | { readonly kind: "missing"; readonly reason: string };

/** The installed packages have 850 MB, which a slow connection must be able to download. */
const INSTALL_TIMEOUT_MS = 30 * 60_000;

export interface PythonPlace {
  /** The directory of the virtual environment. */
  readonly venv: string;
  /** The file of the pinned versions. */
  readonly requirements: string;
}

/** The benchmark's environment, with the peers. */
export function preparePython(say: (text: string) => void): Promise<OwnPython> {
  return ownPython({ venv: places.venv, requirements: join(places.peers, "requirements.txt") }, say);
}

export async function ownPython(place: PythonPlace, say: (text: string) => void): Promise<OwnPython> {
  const python = join(place.venv, "bin", "python");
  const wanted = await readFile(place.requirements, "utf8");
  const stamp = join(place.venv, "installed-requirements.txt");
  const installed = existsSync(stamp) ? await readFile(stamp, "utf8") : null;
  if (installed !== wanted) {
    say(`Making the peers' Python environment in ${relative(places.project, place.venv)} (once; some minutes).`);
    const reason = await install(place, python);
    if (reason !== null) {
      return { kind: "missing", reason };
    }
    await writeFile(stamp, wanted);
  }
  return { kind: "ready", python, versions: versionsOf(wanted) };
}

/** Null if it succeeded, otherwise the last line of the error. */
async function install({ venv, requirements }: PythonPlace, python: string): Promise<string | null> {
  if (!existsSync(python)) {
    await rm(venv, { recursive: true, force: true });
    const made = await command("python3", ["-m", "venv", venv]);
    if (made !== null) {
      return made;
    }
  }
  return command(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]);
}

async function command(file: string, args: readonly string[]): Promise<string | null> {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], timeout: INSTALL_TIMEOUT_MS });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString("utf8")).slice(-4000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    const last = output.trim().split("\n").at(-1) ?? "";
    return code === 0 ? null : `${file} ${args.slice(0, 3).join(" ")} ended with ${signal ?? code}: ${last}`;
  } catch (error) {
    return `${file} cannot be started: ${(error as Error).message}`;
  }
}

function versionsOf(requirements: string): Record<string, string> {
  const pairs = [...requirements.matchAll(/^([a-z]+)[^=\n#]*==(\S+)$/gm)];
  return Object.fromEntries(pairs.map((pair) => [pair[1] ?? "", pair[2] ?? ""]));
}
