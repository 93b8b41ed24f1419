/** Runs everything: set-up, format, lint, types, tests. With arguments, which vitest gets, the checks are left out. */
import {
  ensureBuild,
  ensureChromium,
  ensureDependencies,
  ensureJemalloc,
  ensureNode,
  ensureShells,
  run,
} from "./ensure.mjs";

ensureNode();
ensureDependencies();
await ensureBuild();
ensureJemalloc();
ensureChromium();
ensureShells();
const args = process.argv.slice(2);
if (args.length === 0) {
  const status = run("npm", ["run", "--silent", "check"]);
  if (status !== 0) process.exit(status);
}
process.exit(run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args]));
