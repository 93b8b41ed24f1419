/** Everything: set-up, format, lint, types, tests. Arguments are passed on to vitest and leave the checks out. */
import { ensureBuild, ensureDependencies, ensureJemalloc, ensureNode, run } from "./ensure.mjs";

ensureNode();
ensureDependencies();
await ensureBuild();
ensureJemalloc();
const args = process.argv.slice(2);
if (args.length === 0) {
  const status = run("npm", ["run", "--silent", "check"]);
  if (status !== 0) process.exit(status);
}
process.exit(run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args]));
