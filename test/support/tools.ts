/**
 * Programs that tests need and the package does not: test runners, other Nodes. Each folder of `test/tools` with a lock
 * file is one set of them. A set is installed from the npm registry when the first test asks for it, into `.tools/`,
 * under the hash of the lock file, where the next run finds it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const QUIET = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
const MINUTES = 60_000;

/** The `node_modules` of a set. A registry that does not answer is an error after five minutes. */
export function toolsOf(set: "runners" | "nodes"): string {
  const source = join(root, "test/tools", set);
  const lock = readFileSync(join(source, "package-lock.json"));
  const home = join(root, ".tools", `${set}-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`);
  if (existsSync(home)) return join(home, "node_modules");
  const next = `${home}.${process.pid}`;
  mkdirSync(next, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(source, name), join(next, name));
  try {
    execFileSync("npm", ["install", ...QUIET], {
      cwd: next,
      stdio: ["ignore", "ignore", "inherit"],
      timeout: 5 * MINUTES,
    });
    // Another test file may have installed it first.
    if (!existsSync(home)) renameSync(next, home);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
  return join(home, "node_modules");
}

/** The path of another Node's program. */
export function nodeOf(major: 22 | 24): string {
  return join(toolsOf("nodes"), `node${major}-${process.platform}-${process.arch}`, "bin/node");
}

/** Makes the package as it is published, in the directory. */
export function packInto(directory: string): string {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", directory];
  const packed = JSON.parse(
    execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  );
  return join(directory, (Array.isArray(packed) ? packed[0] : Object.values(packed)[0]).filename);
}

/** Installs the package there as a user would. Without install scripts, because no dependency needs its own. */
export function installInto(directory: string, file: string): void {
  execFileSync("npm", ["install", ...QUIET, file], {
    cwd: directory,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 5 * MINUTES,
  });
}
