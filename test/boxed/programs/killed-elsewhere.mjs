// Somebody in another box is killed by the system's OOM killer; right after that a function fails, and another one is
// killed by hand. Prints both errors.
import { spawnSync } from "node:child_process";
import { session } from "spillway";

// Boxes are not part of the package's door, so they are loaded as source, and nothing of it kept.
process.env.TSX_DISABLE_CACHE = "1";
const { register } = await import("tsx/esm/api");
register();
const { makeBox } = await import("../../../bench/harness/box.ts");

const s = session({ progress: false, workers: 1, maxRetries: 0, maxOomRetries: 0 });
await s
  .range(1)
  .map((row) => row)
  .count();

async function failureAfterKill(fails) {
  const box = await makeBox(64 << 20);
  const fill = "const kept = []; for (;;) kept.push(Buffer.alloc(8 << 20, 1));";
  const [file, ...rest] = box.enter([process.execPath, "-e", fill]);
  const { signal } = spawnSync(file, rest, { stdio: "ignore" });
  const failure = await s
    .range(1)
    .map(fails)
    .takeAll()
    .then(
      () => null,
      ({ name, reason }) => ({ name, reason }),
    );
  await box.remove();
  return { elsewhere: signal, ...failure };
}

const failed = await failureAfterKill(() => {
  throw new Error("of the function");
});
const killed = await failureAfterKill((row) => {
  process.kill(process.pid, "SIGKILL");
  return row;
});
await s.close();
console.log(JSON.stringify({ failed, killed }));
