// `npm run simulate`: the scheduler's simulator (test/simulate/main.ts), which needs no build.
import { ensureDependencies, ensureNode, run } from "./ensure.mjs";

ensureNode();
ensureDependencies();
const args = process.argv.slice(2);
process.exit(run(process.execPath, ["--expose-gc", "--import", "tsx", "test/simulate/main.ts", ...args]));
