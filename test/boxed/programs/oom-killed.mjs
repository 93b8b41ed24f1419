// A function that takes memory faster than anybody looks, with nothing of ours in its way: the system's OOM killer ends
// its worker. Prints the error and what a job after it gives.
import { session } from "spillway";

const s = session({ progress: false, workers: 1, memoryLimit: 0, memoryMonitorRefreshMs: 0, maxOomRetries: 0 });
const hog = s.range(1).map(() => {
  const kept = [];
  for (;;) kept.push(Buffer.alloc(16 << 20, 1));
});
let failure = null;
try {
  await hog.takeAll();
} catch ({ name, message, reason }) {
  failure = { name, message, reason };
}
const ids = s.range(10).map((row) => row);
const rows = await ids.count();
await s.close();
console.log(JSON.stringify({ failure, rows }));
