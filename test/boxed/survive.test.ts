/**
 * Work that memory is too small for, in a real memory box: each piece ends with its answer or with an error of its own,
 * the program and the session live on (whatever the kernel may have killed was a worker), and nothing is left behind.
 * Ten times a box of 1 GiB, and the same of others, is `npm run bench -- survive`.
 */
import { expect, test } from "vitest";
import { type BoxedRun, boxed, runInBox } from "../support/box.ts";

const MIB = 2 ** 20;

interface Outcome {
  readonly answer?: unknown;
  readonly error?: string;
  readonly message?: string;
  readonly after: number;
}

/** What the program printed; it did so to its end, and the session did work after it. */
async function outcomeOf(mib: number, job: string, ...args: readonly number[]): Promise<Outcome> {
  return judged(await runInBox(mib * MIB, "survive", job, ...args.map(String)));
}

function judged(run: BoxedRun): Outcome {
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  const outcome: Outcome = JSON.parse(run.stdout);
  expect(outcome.after).toBe(10);
  return outcome;
}

const sumBelow = (rows: number) => (rows * (rows - 1)) / 2;

boxed("in 1 GiB", () => {
  test("[M11] [M1] a function that allocates 300 MB for each batch has its answer without a kill of the system", async () => {
    const run = await runInBox(1024 * MIB, "survive", "batches");
    expect(judged(run).answer).toBe(sumBelow(24));
    expect(run.kills, run.stderr).toBe(0);
  });

  test("[M3] eight workers that fit one by one but not together have their answer", async () => {
    expect((await outcomeOf(1024, "together")).answer).toBe(sumBelow(16));
  });

  test("[M3] [D5] one that leaks 1 MB on each of 1,500 calls has its answer", async () => {
    expect((await outcomeOf(1024, "leak")).answer).toBe(sumBelow(1_500));
  });

  test("[M1] [M3] two jobs at once have their answers", async () => {
    expect((await outcomeOf(1024, "two")).answer).toEqual([sumBelow(16), 500_000_000]);
  });

  test.each([
    ["explode", "a row that becomes 2 GB"],
    ["buffers", "native buffers without end"],
    ["objects", "objects on the heap without end"],
  ])("[M3] [D9] %s: %s is an OutOfMemoryError with its remedies", async (job) => {
    const { error, message } = await outcomeOf(1024, job);
    expect({ error, message }).toMatchObject({ error: "OutOfMemoryError" });
    expect(message).toMatch(/batchSize|memory/);
  });

  test("[D4] [D9] a child process without end is one too, whoever ends it", async () => {
    const { error, message } = await outcomeOf(1024, "child");
    expect({ error, message }).toMatchObject({ error: "OutOfMemoryError" });
  });
});

boxed("ten times the box", () => {
  const bytes = 256;
  const rows = (10 * 512 * MIB) / bytes;

  test("[A9] is sorted and written in 512 MiB", async () => {
    const answer = { written: rows, seen: rows, misplaced: 0 };
    expect(await outcomeOf(512, "sort", rows, bytes)).toMatchObject({ answer });
  });

  test("[A9] is joined in 512 MiB", async () => {
    const answer = { n: rows / 2, ids: ((rows / 2) * (rows / 2 - 1)) / 2, equal: 0 };
    expect(await outcomeOf(512, "join", rows, bytes)).toMatchObject({ answer });
  });

  test("[D1] is written by the kernel alone in 256 MiB, be it in rows of a kilobyte", async () => {
    expect((await outcomeOf(256, "write", 2_621_440, 1024)).answer).toBe(2_621_440);
  });
});
