/** The tables of moves: drawn as they are, kept to, and the only way to change a phase or a set that indexes phases. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  JOB_MOVES,
  type Moves,
  moveJob,
  moveTask,
  TASK_MOVES,
  WORKER_MOVES,
} from "../../src/scheduler/phases/index.ts";
import type { JobState, State, TaskState } from "../../src/scheduler/state/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The arrows of the drawing under a heading of docs/scheduler.md, as in the table. */
function drawn(heading: string): Record<string, Record<string, string>> {
  const page = readFileSync(join(root, "docs/scheduler.md"), "utf8");
  const section = page.split(/^### /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const moves: Record<string, Record<string, string>> = {};
  for (const [, from = "", to = "", why = ""] of section.matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)) {
    moves[from] = { ...moves[from], [to]: why };
  }
  return moves;
}

/** Phases that nothing follows have no arrow. */
function arrows(moves: Moves<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(moves).filter(([, next]) => Object.keys(next).length > 0));
}

describe("the drawings of docs/scheduler.md", () => {
  test.each([
    ["Tasks", TASK_MOVES],
    ["Workers", WORKER_MOVES],
    ["Jobs", JOB_MOVES],
  ])("[O4] %s move as the table says", (heading, moves) => {
    expect(drawn(heading)).toEqual(arrows(moves));
  });

  test("[O4] every phase is reached, and leads to an end", () => {
    const ends = {
      task: ["unplaced", TASK_MOVES],
      worker: ["starting", WORKER_MOVES],
      job: ["running", JOB_MOVES],
    } as const;
    for (const [first, moves] of Object.values(ends)) {
      const reached = new Set<string>([first]);
      for (const phase of reached)
        for (const next of Object.keys(moves[phase as keyof typeof moves])) reached.add(next);
      expect([...reached].sort()).toEqual(Object.keys(moves).sort());
    }
  });
});

describe("a move that the table does not have", () => {
  const state = { jobs: new Map(), unplaced: new Set() } as unknown as State;

  test("[O4] of a task is an error that names the task and both phases", () => {
    const task = { id: "job/0/3", phase: "over" } as unknown as TaskState;
    expect(() => moveTask(state, task, "running")).toThrow("The task job/0/3 cannot move from over to running.");
  });

  test("[O4] of a job is one, too", () => {
    const job = { id: "a1", phase: "discarding" } as unknown as JobState;
    expect(() => moveJob(state, job, "running")).toThrow("The job a1 cannot move from discarding to running.");
  });
});

test("[O4] only src/scheduler/phases/ writes phases and the sets that index them", () => {
  const sets = "again|aside|resting|fetching|running|repairing|asking|askers|feeding|cancelling|repairs|unplaced|idle";
  const writes = new RegExp(
    `\\.phase = |\\.(${sets})\\.(add|delete|set|push|splice|shift|unshift|pop|clear)\\(|\\.(askingTasks|askingBytes|runningTasks) [+-]?= `,
  );
  const scheduler = join(root, "src/scheduler");
  const wrong: string[] = [];
  for (const entry of readdirSync(scheduler, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(scheduler, file);
    if (!entry.isFile() || path.startsWith("phases/")) continue;
    for (const line of readFileSync(file, "utf8").split("\n"))
      if (writes.test(line)) wrong.push(`${path}: ${line.trim()}`);
  }
  expect(wrong).toEqual([]);
});
