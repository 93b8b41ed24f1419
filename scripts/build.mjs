import { ensureBuild, ensureDependencies, ensureNode } from "./ensure.mjs";

ensureNode();
ensureDependencies();
await ensureBuild();
