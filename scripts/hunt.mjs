// `npm run hunt`: random cases against DuckDB, pyarrow and Polars (test/hunt/main.ts), of the package as users get it.
import { ensureBuild, ensureDependencies, ensureNode, run } from "./ensure.mjs";

ensureNode();
ensureDependencies();
await ensureBuild();
// The defaults are hunted, not what this user has set.
const env = { ...process.env, SPILLWAY_CONFIG: "/dev/null" };
process.exit(run(process.execPath, ["--import", "tsx", "test/hunt/main.ts", ...process.argv.slice(2)], { env }));
