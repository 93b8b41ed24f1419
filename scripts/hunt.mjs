// `npm run hunt`: compares random cases with DuckDB, pyarrow and Polars (test/hunt/main.ts), using the built package.
import { ensureBuild, ensureDependencies, ensureNode, run } from "./ensure.mjs";

ensureNode();
ensureDependencies();
await ensureBuild();
// Hunts with the defaults, not with this user's settings.
const env = { ...process.env, SPILLWAY_CONFIG: "/dev/null" };
process.exit(run(process.execPath, ["--import", "tsx", "test/hunt/main.ts", ...process.argv.slice(2)], { env }));
