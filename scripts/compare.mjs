// `npm run compare`: compares the CPU time of the work tree's build with that of a commit's build (bench/compare/).
import { ensureBuild, ensureDependencies, ensureNode } from "./ensure.mjs";

ensureNode();
ensureDependencies();
// Measures the defaults, not this user's settings.
Object.assign(process.env, { SPILLWAY_CONFIG: "/dev/null" });
// Runs in this process, which receives Ctrl-C and then cleans up.
const { register } = await import("tsx/esm/api");
register();
const { compare } = await import("../bench/compare/index.ts");
process.exitCode = await compare(process.argv.slice(2), ensureBuild);
