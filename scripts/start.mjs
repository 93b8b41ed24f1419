import { ensureBuild, ensureDependencies, ensureNode, run } from "./ensure.mjs";

ensureNode();
ensureDependencies();
await ensureBuild();
process.exit(run(process.execPath, ["--import", "tsx", "examples/first-job.ts", ...process.argv.slice(2)]));
