/** A real supervisor process with fake workers, and a program's end of its socket to drive it by. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect } from "vitest";
import {
  type ArenaPlace,
  type BlockRef,
  type BlockSlice,
  type JobId,
  type JobSpec,
  type ProgramMessage,
  type Split,
  type ToProgram,
  Wire,
} from "../../src/protocol/index.ts";
import { type SupervisorOptions, sessionDirectory, socketPath } from "../../src/supervisor/index.ts";
import { resolvedSettings } from "../support/resolved.ts";

const MAIN = fileURLToPath(new URL("../../src/supervisor/main.ts", import.meta.url));
const WORKER = fileURLToPath(new URL("./fake-worker.mjs", import.meta.url));
const ROOT = dirname(dirname(dirname(MAIN)));
let sessions = 0;
const directories = new Set<string>();

export function removeDirectories(): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  directories.clear();
}

export interface Work {
  readonly rows: number;
  readonly blocks: number;
  readonly bytes: number;
  readonly ending?: "exit" | "abort" | "segfault" | "sigabrt" | "heap" | "loop" | "fail" | "file";
  readonly once?: boolean;
  readonly children?: boolean | "hidden";
}

export function split(work: Work): Split {
  return { kind: "sql", sql: JSON.stringify(work), files: [] };
}

export class TestSupervisor {
  readonly messages: ToProgram[] = [];
  readonly #waiting: { matches: (message: ToProgram) => boolean; resolve: (message: ToProgram) => void }[] = [];
  #request = 0;

  private constructor(
    readonly options: SupervisorOptions,
    readonly process: ChildProcess,
    readonly wire: Wire<ToProgram, ProgramMessage>,
  ) {
    wire.onMessage((message) => {
      this.messages.push(message);
      for (const waiting of [...this.#waiting]) {
        if (!waiting.matches(message)) continue;
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        waiting.resolve(message);
      }
    });
  }

  static async start(more: Partial<SupervisorOptions> = {}): Promise<TestSupervisor> {
    const options = supervisorOptions(more);
    const child = await startProcess(options);
    const supervisor = new TestSupervisor(options, child, new Wire(connect(socketPath(sessionDirectory(options)))));
    supervisor.send({ type: "hello", pid: process.pid, token: options.token });
    await supervisor.next("welcome");
    return supervisor;
  }

  get arena(): ArenaPlace {
    const welcome = this.messages.find((message) => message.type === "welcome");
    if (welcome?.type !== "welcome") throw new Error("no welcome yet");
    return welcome.arena;
  }

  send(message: ProgramMessage): void {
    this.wire.send(message);
  }

  /** The next message of the type, from those that came already or will. */
  async next<T extends ToProgram["type"]>(
    type: T,
    matches: (message: Extract<ToProgram, { type: T }>) => boolean = () => true,
  ): Promise<Extract<ToProgram, { type: T }>> {
    const fits = (message: ToProgram): message is Extract<ToProgram, { type: T }> =>
      message.type === type && matches(message as Extract<ToProgram, { type: T }>);
    const already = this.messages.find(fits);
    if (already !== undefined) return already;
    const message = await new Promise<ToProgram>((resolve) => this.#waiting.push({ matches: fits, resolve }));
    return message as Extract<ToProgram, { type: T }>;
  }

  /** The job's end, its output read and released as it comes. */
  async run(job: JobSpec): Promise<Extract<ToProgram, { type: "finished" | "failed" }>> {
    this.send({ type: "start", job });
    this.send({ type: "want", job: job.id, blocks: 2 });
    let at = this.messages.length;
    for (;;) {
      for (; at < this.messages.length; at++) {
        const message = this.messages[at];
        if (message === undefined || !("job" in message) || message.job !== job.id) continue;
        if (message.type === "finished" || message.type === "failed") return message;
        if (message.type !== "output") continue;
        this.release(message.slice);
        this.send({ type: "want", job: job.id, blocks: 1 });
      }
      await new Promise<ToProgram>((resolve) => this.#waiting.push({ matches: () => true, resolve }));
    }
  }

  outputs(job: JobId): readonly BlockSlice[] {
    return this.messages.flatMap((message) =>
      message.type === "output" && message.job === job ? [message.slice] : [],
    );
  }

  release({ block }: BlockSlice): void {
    this.send({ type: "release", blocks: [block.id] });
  }

  async inspect(sql: string): Promise<ToProgram> {
    const request = ++this.#request;
    this.send({ type: "inspect", request, sql, maxRetries: 1 });
    const fits = (message: ToProgram) => "request" in message && message.request === request;
    return new Promise((resolve) => this.#waiting.push({ matches: fits, resolve }));
  }

  /** Pids of the workers, once there are as many as there should be. */
  workerPids(): number[] {
    const record = JSON.parse(readFileSync(join(sessionDirectory(this.options), "pids.json"), "utf8"));
    return record.workers.map((worker: { pid: number }) => worker.pid);
  }

  /** A block of the program's. */
  async put(bytes: number): Promise<BlockRef> {
    const request = ++this.#request;
    this.send({ type: "reserve", request, bytes });
    const { range } = await this.next("reserved", (message) => message.request === request);
    const seal = ++this.#request;
    this.send({ type: "seal", request: seal, range, length: bytes, rows: 0, checksum: 0 });
    return (await this.next("sealed", (message) => message.request === seal)).block;
  }

  async close(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const exited = once(this.process, "exit");
      this.send({ type: "close", request: 0 });
      await this.next("closed");
      await exited;
    }
    this.assertNothingLeft();
  }

  assertNothingLeft(): void {
    expect(existsSync(sessionDirectory(this.options))).toBe(false);
    expect(existsSync(this.arena.path)).toBe(false);
    expect(livingWorkersOf(this.options.session)).toEqual([]);
  }
}

export function supervisorOptions(more: Partial<SupervisorOptions> = {}): SupervisorOptions {
  const localDirectory = more.localDirectory ?? mkdtempSync(join(tmpdir(), "spillway-test-"));
  directories.add(localDirectory);
  const session = `t${process.pid}-${++sessions}`;
  return {
    ...resolvedSettings({ localDirectory, localDirectories: [localDirectory] }),
    shown: [],
    resources: { cpu: 2, gpu: 0, memory: 2 ** 30 },
    session,
    token: "secret",
    dashboardToken: "secret of the dashboard",
    stateDirectory: join(localDirectory, "state", session),
    parentPid: process.pid,
    workerProgram: WORKER,
    ...more,
  };
}

export async function startProcess(options: SupervisorOptions): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, options.session], {
    cwd: ROOT,
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.stdin === null || child.stdout === null) throw new Error("no pipes");
  child.stdin.end(JSON.stringify(options));
  const [line] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  expect(JSON.parse(String(line))).toEqual({ directory: sessionDirectory(options) });
  child.stdout.destroy();
  return child;
}

/** Every process has its session's directory in its command line. */
export function livingWorkersOf(session: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return command.includes("fake-worker") && command.includes(`/${session}\0`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Supervisors for the tests of a file: each is closed after its test, and has left nothing behind. */
export function testSupervisors(): (more?: Partial<SupervisorOptions>) => Promise<TestSupervisor> {
  const started: TestSupervisor[] = [];
  afterEach(async () => {
    for (const supervisor of started.splice(0)) await supervisor.close();
    removeDirectories();
  });
  return async (more = {}) => {
    const supervisor = await TestSupervisor.start(more);
    started.push(supervisor);
    return supervisor;
  };
}
