// `npm run bench`: builds the package, because the benchmark measures what users get, then runs bench/main.ts.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));

// Measures the defaults, not this user's settings.
const env = { ...process.env, SPILLWAY_CONFIG: "/dev/null" };

function node(args) {
  const { status, signal, error } = spawnSync(process.execPath, args, { cwd: project, stdio: "inherit", env });
  if (error) {
    throw error;
  }
  return signal ? 1 : (status ?? 1);
}

const args = process.argv.slice(2);
const built = args.includes("--help") ? 0 : node(["scripts/build.mjs"]);
process.exitCode = built === 0 ? node(["--import", "tsx", "bench/main.ts", ...args]) : built;
