/**
 * A large text file in a small box (needs root): its lines are counted, and filtered by a function. Printed are the
 * time, the memory that cannot be reclaimed, and the kills of the system's OOM killer. `npm run build && npx tsx
 * bench/micro/text-box.ts [megabytes] [MiB of the box]` Each job runs in a program of its own, in a new box. The
 * answers are compared with what the file was made of.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { session } from "spillway";
import { makeBox } from "../harness/box.ts";

const MIB = 2 ** 20;
const LINES_PER_PIECE = 10_000;
const JOBS = ["count", "filter"] as const;
type Job = (typeof JOBS)[number];

interface Made {
  readonly lines: number;
  /** Lines with the status 500. */
  readonly failed: number;
}

const [megabytes = "982", box = "512", job, file = ""] = process.argv.slice(2);
if (job === undefined) await measureAll(Number(megabytes) * 1e6, Number(box) * MIB);
else console.log(await answer(job as Job, file));

async function measureAll(bytes: number, limit: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "text-box-"));
  try {
    const file = join(directory, "access.log");
    const made = await makeText(file, bytes);
    for (const job of JOBS) await measure(job, file, limit, job === "count" ? made.lines : made.failed);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function makeText(path: string, bytes: number): Promise<Made> {
  const file = createWriteStream(path);
  let lines = 0;
  let failed = 0;
  while (file.bytesWritten + file.writableLength < bytes) {
    let piece = "";
    for (let i = 0; i < LINES_PER_PIECE; i++, lines++) {
      const status = lines % 997 === 0 ? 500 : 200;
      if (status === 500) failed++;
      piece += `10.0.${lines % 256}.${lines % 199} - - "GET /item/${lines * 7919} HTTP/1.1" ${status} ${lines % 50_000}\n`;
    }
    if (!file.write(piece)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return { lines, failed };
}

async function measure(job: Job, file: string, limit: number, expected: number): Promise<void> {
  const box = await makeBox(limit);
  try {
    const own = [
      process.execPath,
      ...process.execArgv,
      import.meta.filename,
      megabytes,
      String(limit / MIB),
      job,
      file,
    ];
    const [command = "", ...args] = box.enter(own);
    const peaks = box.watch();
    const start = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const { held, kills } = await peaks();
    const right = Number(printed) === expected ? "right" : `wrong: ${printed.trim()} instead of ${expected}`;
    const memory = `${Math.round(held / MIB)} of ${limit / MIB} MiB held, ${kills} kills`;
    console.log(`${megabytes} MB of text, ${job}: ${seconds} s, ${memory}, ${right}`);
  } finally {
    await box.remove();
  }
}

async function answer(job: Job, file: string): Promise<number> {
  const s = session({ progress: false });
  try {
    const lines = s.readText(file);
    return job === "count" ? await lines.count() : await lines.filter((row) => row.text.includes('" 500 ')).count();
  } finally {
    await s.close();
  }
}
