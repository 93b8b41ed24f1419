/**
 * Set-up that every command does for itself: the right Node, the dependencies of the lock file, a fresh build. A step
 * with nothing to do is skipped. If a step cannot be done, one line says why.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPages } from "./pages.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));

export function fail(line) {
  process.stderr.write(`spillway: ${line}\n`);
  process.exit(1);
}

export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (done.error) fail(`${command} could not be started: ${done.error.message}`);
  return done.status ?? 1;
}

export function ensureNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 15))
    fail(`Node 20.15 or later is needed; this is ${process.versions.node}.`);
  if (process.platform !== "linux" && process.platform !== "darwin") {
    fail(`Linux (or macOS) is needed; this is ${process.platform}.`);
  }
}

export function ensureDependencies() {
  const stamp = join(root, "node_modules", ".spillway-lock");
  const wanted = hash(readFileSync(join(root, "package-lock.json")));
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  process.stderr.write("spillway: installing dependencies (npm ci) …\n");
  const status = run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (status !== 0) fail("the dependencies could not be installed: npm ci failed (is the npm registry reachable?).");
  writeFileSync(stamp, wanted);
}

/**
 * The programs of the package. They share no files: each loads one large file with its own code only. With shared
 * files, the start of each took 10 ms of CPU time more.
 */
const PROGRAMS = [
  { "api/index": "src/index.ts" },
  { "supervisor/main": "src/supervisor/main.ts" },
  { "worker/main": "src/worker/main.ts" },
  { "worker/stream-thread": "src/worker/streams/stream-thread.ts" },
  { "cli/main": "src/cli/main.ts" },
];

/**
 * The compiler makes types, and esbuild makes JavaScript as a few large files. A process that loads two hundred small
 * files is ready 100 ms later, and three processes start before a program gets its first row. Every output lies one
 * folder below `dist/`, so that `new URL("../…", import.meta.url)` means the same as in the source.
 */
async function build(dist) {
  const status = run(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    "tsconfig.json",
    "--emitDeclarationOnly",
    "--outDir",
    dist,
  ]);
  if (status !== 0) fail("the build failed; see the compiler's messages above.");
  const { build: bundle } = await import("esbuild");
  const common = {
    absWorkingDir: root,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20",
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
  };
  for (const entryPoints of PROGRAMS) {
    await bundle({
      ...common,
      entryPoints,
      outdir: dist,
      // Parts that are loaded when they are needed.
      chunkNames: "shared/[name]-[hash]",
      splitting: true,
      format: "esm",
    });
  }
  // The script inside an HTML file with a flame graph.
  await bundle({
    ...common,
    entryPoints: { "profile/flame-page": "src/profile/drawing/page.ts" },
    outdir: dist,
    format: "iife",
    platform: "browser",
    target: "es2022",
    keepNames: false,
    sourcemap: false,
    minify: true,
  });
  // For `require` on a Node version, or in a test runner, that cannot load ES modules with it; and for the dashboard's
  // process, which is to cost as little as possible: it starts with 15 ms less CPU time than as ES modules.
  await bundle({
    ...common,
    entryPoints: {
      "api/index": "src/index.ts",
      "dashboard/main": "src/dashboard/main.ts",
      // Loaded with `require`, because a function may ask for a profile in its middle and cannot wait.
      "profile/recorder": "src/profile/recorder.ts",
      "profile/thread": "src/profile/thread.ts",
    },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { "import.meta.url": "importMetaUrl" },
  });
  await buildPages(root, join(dist, "dashboard/web"));
}

export async function ensureBuild() {
  const dist = join(root, "dist");
  const stamp = ".built-from";
  const sources = contentHash([
    join(root, "src"),
    join(root, "scripts/ensure.mjs"),
    join(root, "scripts/pages.mjs"),
    join(root, "tsconfig.json"),
    join(root, "package-lock.json"),
  ]);
  if (existsSync(join(dist, stamp)) && readFileSync(join(dist, stamp), "utf8") === sources) return;
  // Built beside the old build, so that a failed build leaves the old one in place.
  const next = join(root, "dist.next");
  rmSync(next, { recursive: true, force: true });
  await build(next);
  writeFileSync(join(next, stamp), sources);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

/** For the test of `allocator: "jemalloc"`, which is skipped without jemalloc. */
export function ensureJemalloc() {
  if (process.platform !== "linux") return;
  if (spawnSync("ldconfig", ["-p"], { encoding: "utf8" }).stdout?.includes("libjemalloc.so.2")) return;
  if (canInstall()) install("a test", 60_000, "libjemalloc2");
}

/** For the tests of the dashboard's pages, which are skipped without Chromium. */
export function ensureChromium() {
  if (process.platform !== "linux" || existsSync("/usr/bin/chromium")) return;
  if (canInstall() && install("the dashboard's tests", 300_000, "chromium", "fonts-dejavu-core")) return;
  process.stderr.write(
    "spillway: no /usr/bin/chromium, and apt-get could not install it: browser tests are skipped.\n",
  );
}

/** For the tests of completion, which are skipped without these shells. */
export function ensureShells() {
  const missing = ["zsh", "fish"].filter((shell) => spawnSync(shell, ["-c", "true"]).status !== 0);
  if (process.platform !== "linux" || missing.length === 0) return;
  if (canInstall() && install("the tests of completion", 120_000, ...missing)) return;
  process.stderr.write(
    `spillway: no ${missing.join(", no ")}, and apt-get could not install it: their completion is not tested.\n`,
  );
}

/** Only root installs, because nobody should be asked for a password. */
function canInstall() {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

function install(purpose, timeout, ...packages) {
  process.stderr.write(`spillway: installing ${packages.join(", ")} for ${purpose} (apt-get) …\n`);
  const options = { stdio: "ignore", timeout };
  const tryIt = () =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", ...packages], options).status === 0;
  if (tryIt()) return true;
  spawnSync("apt-get", ["update"], options);
  return tryIt();
}

function contentHash(paths) {
  const digest = createHash("sha256");
  const visit = (path) => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else digest.update(path).update(readFileSync(path));
  };
  for (const path of paths) visit(path);
  return digest.digest("hex");
}

function hash(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}
