/**
 * The two builds, side by side in a temporary directory. They differ only in the source they were built from:
 *
 *   node_modules/     a copy of the work tree's, found from both builds; the work tree's own is never written to
 *   base/, current/   package.json, dist/, and in programs/ the same compiled programs, whose `import "spillway"` means
 *                     the package around them
 *   base/node_modules only if the two lock files differ
 *
 * Because the work tree's build is copied, a rebuild in the middle of a comparison changes nothing.
 */
import { cp, mkdir, readFile, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { compilePrograms } from "../harness/index.ts";
import { UsageError } from "../option-values.ts";
import { places } from "../places.ts";
import { execute } from "./command.ts";

export const BUILD_NAMES = ["base", "current"] as const;
export type BuildName = (typeof BUILD_NAMES)[number];

/** The directory of each build's programs. */
export type Builds = Readonly<Record<BuildName, string>>;

export interface BuildOptions {
  readonly commit: string;
  /** An empty directory. */
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** The full hash of a commit that the user names. */
export async function resolveCommit(name: string): Promise<string> {
  const command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  try {
    return (await execute(command, { directory: places.project })).trim();
  } catch (cause) {
    throw new UsageError(`There is no commit "${name}" in ${places.project}.`, { cause });
  }
}

/** The work tree must be built already. */
export async function makeBuilds(options: BuildOptions): Promise<Builds> {
  const { directory } = options;
  const copy = { recursive: true, verbatimSymlinks: true };
  await cp(join(places.project, "node_modules"), join(directory, "node_modules"), copy);
  const [base, current] = [join(directory, "base"), join(directory, "current")];
  await mkdir(base);
  await mkdir(current);
  await buildBase(base, options);
  await cp(join(places.project, "package.json"), join(current, "package.json"));
  await cp(join(places.project, "dist"), join(current, "dist"), copy);
  await compilePrograms();
  const programs = { base: join(base, "programs"), current: join(current, "programs") };
  for (const name of BUILD_NAMES) await cp(places.programs, programs[name], copy);
  return programs;
}

async function buildBase(base: string, { commit, directory, signal, say }: BuildOptions): Promise<void> {
  const worktree = join(directory, "worktree");
  try {
    await execute(["git", "worktree", "add", "--detach", worktree, commit], { directory: places.project, signal });
    const sameLock = await haveSameLock(worktree);
    if (sameLock) await symlink(join(directory, "node_modules"), join(worktree, "node_modules"));
    say(`Building ${commit.slice(0, 12)}${sameLock ? "" : "; its lock file is another one: npm ci first"}.`);
    // Like every command of the project, it installs what is missing.
    await execute(["npm", "run", "build"], { directory: worktree, signal });
    await rename(join(worktree, "package.json"), join(base, "package.json"));
    await rename(join(worktree, "dist"), join(base, "dist"));
    if (!sameLock) await rename(join(worktree, "node_modules"), join(base, "node_modules"));
  } finally {
    await removeWorktree(worktree);
  }
}

async function haveSameLock(worktree: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all(
    [places.project, worktree].map((directory) => readFile(join(directory, "package-lock.json"), "utf8")),
  );
  return ours === theirs;
}

/** Git keeps a list of work trees. A directory that is only deleted stays in it. */
async function removeWorktree(worktree: string): Promise<void> {
  const { project: directory } = places;
  const list = await execute(["git", "worktree", "list", "--porcelain"], { directory });
  if (!list.split("\n").includes(`worktree ${worktree}`)) return;
  await execute(["git", "worktree", "remove", "--force", "--force", worktree], { directory });
}
