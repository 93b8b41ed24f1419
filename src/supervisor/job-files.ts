/**
 * The files that jobs write: staged, recorded so that a later session can clean up after a crash, then put in place or
 * removed, in the background.
 */
import { rmSync } from "node:fs";
import { toWire } from "../errors/index.ts";
import { asideName } from "../files/index.ts";
import type { JobId } from "../protocol/index.ts";
import type { Command, Event } from "../scheduler/index.ts";
import { discardFiles } from "./moves.ts";
import type { ReplacedDirectory } from "./session-files.ts";

type FilesCommand = Extract<Command, { type: "stage" | "commit" | "discard" }>;
type FilesDone = Extract<Event, { type: "committed" | "discarded" }>;

/** What must be removed after a crash. */
interface FilesRecord {
  staging(directories: readonly string[]): void;
  replaced(directories: readonly ReplacedDirectory[]): void;
}

export class JobFiles {
  readonly #staging = new Map<JobId, readonly string[]>();
  /** Files being put in place or removed. */
  readonly #work = new Set<Promise<void>>();
  readonly #onDone: (event: FilesDone) => void;
  readonly #replaced = new Map<JobId, ReplacedDirectory[]>();
  readonly #record: FilesRecord;

  constructor(onDone: (event: FilesDone) => void, record: FilesRecord) {
    this.#onDone = onDone;
    this.#record = record;
  }

  carryOut(command: FilesCommand): void {
    const { job } = command;
    switch (command.type) {
      case "stage":
        this.#staging.set(
          job,
          command.sinks.map(({ staging }) => staging),
        );
        this.#recordStaging();
        return;
      case "commit":
        this.#inBackground(job, "committed", async () => {
          // Loads the C boundary, for which a session's start must not wait.
          const { commitFiles } = await import("./commit.ts");
          for (const output of command.outputs) await commitFiles(output, (one) => this.#recordReplaced(job, one));
        });
        return;
      case "discard":
        this.#inBackground(job, "discarded", async () => {
          for (const sink of command.sinks) await discardFiles(sink);
        });
        return;
    }
  }

  /** Waits for running work, and removes staged files. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#work);
    for (const directory of [...this.#staging.values()].flat()) rmSync(directory, { recursive: true, force: true });
  }

  #inBackground(job: JobId, type: FilesDone["type"], run: () => Promise<void>): void {
    const work = run().then(
      () => this.#filesDone({ type, job, error: null }),
      (error: unknown) => this.#filesDone({ type, job, error: toWire(error) }),
    );
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  #filesDone(event: FilesDone): void {
    if (event.type === "discarded" || event.error === null) {
      this.#staging.delete(event.job);
      this.#recordStaging();
      if (this.#replaced.delete(event.job)) this.#record.replaced([...this.#replaced.values()].flat());
    }
    this.#onDone(event);
  }

  #recordStaging(): void {
    const staging = [...this.#staging.values()].flat();
    this.#record.staging(staging.flatMap((path) => [path, asideName(path)]));
  }

  #recordReplaced(job: JobId, one: ReplacedDirectory): void {
    this.#replaced.set(job, [...(this.#replaced.get(job) ?? []), one]);
    this.#record.replaced([...this.#replaced.values()].flat());
  }
}
