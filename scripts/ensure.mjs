/**
 * Set-up that every command does for itself: the right Node, the dependencies of the lock file, a fresh build.
 * Each step is skipped when it has nothing to do. What cannot be had is named in one line.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
 * Types by the compiler, JavaScript as a few large files: a process that loads two hundred small ones is ready 100 ms
 * later, and three processes stand between a program and its first row. Every output lies one folder below `dist/`, so
 * that `new URL("../…", import.meta.url)` means the same as in the source.
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
  if (status !== 0) fail("the build failed: the messages above are the compiler's.");
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
  await bundle({
    ...common,
    entryPoints: {
      "api/index": "src/index.ts",
      "cli/main": "src/cli/main.ts",
      "supervisor/main": "src/supervisor/main.ts",
      "worker/main": "src/worker/main.ts",
      "worker/stream-thread": "src/worker/streams/stream-thread.ts",
    },
    outdir: dist,
    chunkNames: "shared/[name]-[hash]",
    splitting: true,
    format: "esm",
  });
  // For `require` where Node, or a test runner in its place, cannot load ES modules with it.
  await bundle({
    ...common,
    entryPoints: { "api/index": "src/index.ts" },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { "import.meta.url": "importMetaUrl" },
  });
}

export async function ensureBuild() {
  const dist = join(root, "dist");
  const stamp = ".built-from";
  const sources = contentHash([
    join(root, "src"),
    join(root, "scripts/ensure.mjs"),
    join(root, "tsconfig.json"),
    join(root, "package-lock.json"),
  ]);
  if (existsSync(join(dist, stamp)) && readFileSync(join(dist, stamp), "utf8") === sources) return;
  // Made beside the old one: a build that fails leaves what worked.
  const next = join(root, "dist.next");
  rmSync(next, { recursive: true, force: true });
  await build(next);
  writeFileSync(join(next, stamp), sources);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

/** For the test of `allocator: "jemalloc"`, which is skipped without it. Tried where it costs nobody a password. */
export function ensureJemalloc() {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  if (spawnSync("ldconfig", ["-p"], { encoding: "utf8" }).stdout?.includes("libjemalloc.so.2")) return;
  process.stderr.write("spillway: installing libjemalloc2 for a test (apt-get) …\n");
  const options = { stdio: "ignore", timeout: 60_000 };
  if (spawnSync("apt-get", ["install", "-y", "libjemalloc2"], options).status === 0) return;
  spawnSync("apt-get", ["update"], options);
  spawnSync("apt-get", ["install", "-y", "libjemalloc2"], options);
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
