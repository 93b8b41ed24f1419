// What the memory gauge says in a box: at first, after 400 MB have gone through the page cache, and with a buffer of 64
// MiB.
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

// The gauge is not part of the package's door, so it is loaded as source, and nothing of it kept.
process.env.TSX_DISABLE_CACHE = "1";
const { register } = await import("tsx/esm/api");
register();
const { procGauge } = await import("../../../src/memory/index.ts");

const piece = Buffer.alloc(4 << 20, 1);
const before = procGauge.node();
const path = join(process.argv[2], "file");
const file = openSync(path, "w");
for (let i = 0; i < 100; i++) writeSync(file, piece);
closeSync(file);
const cached = procGauge.node();
const buffer = Buffer.alloc(64 << 20, 1);
const filled = procGauge.node();
rmSync(path);
const users = procGauge.users(3);
console.log(JSON.stringify({ before, cached, filled, users, pid: process.pid, kept: buffer.length }));
