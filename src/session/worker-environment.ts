/** The environment of worker processes, as the allocator options set it. `workerEnv` overrides it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import { parseSize } from "../units/index.ts";

/** The parts of the machine that it depends on, replaced in tests. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly env: NodeJS.ProcessEnv;
  /** Root of the file system. */
  readonly root: string;
}

const HERE: Surroundings = { platform: process.platform, arch: process.arch, env: process.env, root: "/" };

/** glibc reads it once, before the process runs any code of its own. */
const TRIM_THRESHOLD = "MALLOC_TRIM_THRESHOLD_";

export function workerEnvironment(
  settings: Pick<Settings, "mallocTrimThreshold" | "allocator" | "workerEnv">,
  here: Surroundings = HERE,
): Readonly<Record<string, string>> {
  const { mallocTrimThreshold, allocator, workerEnv } = settings;
  return {
    ...(mallocTrimThreshold === false ? {} : { [TRIM_THRESHOLD]: trimThreshold(mallocTrimThreshold) }),
    ...workerEnv,
    ...(allocator === "system" ? {} : preload(workerEnv, here)),
  };
}

function trimThreshold(value: number | string): string {
  return String(Math.floor(parseSize(value, { name: "mallocTrimThreshold" })));
}

function preload(workerEnv: Readonly<Record<string, string>>, here: Surroundings): Readonly<Record<string, string>> {
  const variable = here.platform === "darwin" ? "DYLD_INSERT_LIBRARIES" : "LD_PRELOAD";
  const already = workerEnv[variable] ?? here.env[variable] ?? "";
  const library = findJemalloc(here);
  return { [variable]: already === "" ? library : `${library}:${already}` };
}

function findJemalloc(here: Surroundings): string {
  const places = jemallocPlaces(here);
  const found = places.find((path) => existsSync(join(here.root, path)));
  if (found !== undefined) return join(here.root, found);
  const install =
    here.platform === "darwin"
      ? "brew install jemalloc"
      : "apt-get install libjemalloc2 (Debian, Ubuntu), dnf install jemalloc (Fedora, RHEL), pacman -S jemalloc (Arch)";
  throw new OptionError(
    `session: allocator is "jemalloc", but jemalloc is not installed. Install it: ${install}. Searched: ${places.join(", ")}.`,
  );
}

const TRIPLETS: Readonly<Record<string, string>> = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/** The usual library directories, those of LD_LIBRARY_PATH first. */
function jemallocPlaces({ platform, arch, env }: Surroundings): readonly string[] {
  if (platform === "darwin")
    return ["/opt/homebrew/lib", "/usr/local/lib"].map((path) => `${path}/libjemalloc.2.dylib`);
  const triplet = TRIPLETS[arch];
  const own = env.LD_LIBRARY_PATH?.split(":").filter((path) => path.startsWith("/")) ?? [];
  const usual = ["/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib64", "/lib"];
  const directories = [
    ...own,
    ...(triplet === undefined ? [] : [`/usr/local/lib/${triplet}`, `/usr/lib/${triplet}`, `/lib/${triplet}`]),
    ...usual,
  ];
  return directories.map((path) => `${path}/libjemalloc.so.2`);
}
