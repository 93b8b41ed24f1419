// `npm run compare`: the CPU time of the work tree's build against that of a commit's build (bench/compare/).
import { ensureBuild, ensureDependencies, ensureNode } from "./ensure.mjs";

ensureNode();
ensureDependencies();
// What is measured is the defaults, not what this user has set.
Object.assign(process.env, { SPILLWAY_CONFIG: "/dev/null" });
// In this process, which is the one that Ctrl-C and the clearing up after it are about.
const { register } = await import("tsx/esm/api");
register();
const { compare } = await import("../bench/compare/index.ts");
process.exitCode = await compare(process.argv.slice(2), ensureBuild);
