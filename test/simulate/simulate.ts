/**
 * Runs a session (session.ts) in an invented world (world.ts), and says what must hold at its end. What must hold at
 * every moment is checked by the world as it goes.
 */
import type { RecordedEvent } from "../../src/protocol/index.ts";
import { Chance } from "./chance.ts";
import { KINDS, type KindName, mayFail } from "./kinds.ts";
import { jobOverBlocks } from "./plans.ts";
import type { RunningJob } from "./program.ts";
import { drawSession, fits, type PlannedStart, type Session, STORES, type StoreSize } from "./session.ts";
import type { Story } from "./story.ts";
import { World } from "./world.ts";

export interface Outcome {
  readonly world: World;
  readonly jobs: readonly RunningJob[];
  readonly session: Session;
}

/** Draws the session of the seed, runs it, and throws where something is not as it must be. */
export function simulate(seed: number, kind: KindName, store: StoreSize): Outcome {
  return examine(drawSession(seed, KINDS[kind], store), kind, store);
}

export function examine(
  session: Session,
  kind: KindName,
  store: StoreSize,
  story: Story | null = null,
  begun: (world: World) => void = () => {},
): Outcome {
  const outcome = run(session, story, begun);
  check(outcome, (job) => mayFail(kind, store, session, job, outcome.world));
  return outcome;
}

/** Apart from the session's own chance: a smaller session draws less, and what is left of it should go on as before. */
const OF_RUNNING = 0x9e3779b9;

export function run(
  session: Session,
  story: Story | null,
  begun: (world: World) => void,
  watches: ((events: readonly RecordedEvent[]) => void) | null = null,
): Outcome {
  const { seed, workers, extraWorkers, pages, dangers, managedTarget, memory, broken, starts, kept, asksAt } = session;
  const chance = new Chance(seed ^ OF_RUNNING);
  const means = { workers, extraWorkers, pages, managedTarget, memory, broken };
  const world = new World(chance, means, dangers, story, watches);
  begun(world);
  const jobs: RunningJob[] = [];
  for (const start of starts) world.agenda.later(start.at, () => begin(world, chance, start, jobs));
  for (const at of memory?.rebalances ?? []) world.agenda.later(at, () => world.program.rebalance());
  for (const [at, part] of memory?.shares ?? []) world.agenda.later(at, () => world.workers.memory?.share(part));
  for (const [at, part] of memory?.program ?? [])
    world.agenda.later(at, () => world.workers.memory?.programHolds(part));
  for (const at of asksAt) world.agenda.later(at, () => world.program.askMemory());
  if (kept !== null) world.program.keep(kept.pages, kept.duration);
  world.run();
  for (const job of jobs) {
    if (job.abandonedAfter === null && job.outcome === "running") {
      throw new Error(`the job ${job.planned.spec.id} did not end while the program had forgotten others`);
    }
  }
  for (const job of jobs) if (job.abandonedAfter !== null) world.program.giveUp(job);
  world.run();
  world.program.close();
  return { world, jobs, session };
}

function begin(world: World, chance: Chance, start: PlannedStart, jobs: RunningJob[]): void {
  const job = world.program.start(start.planned, { keeps: start.keeps, abandonedAfter: start.abandonedAfter });
  jobs.push(job);
  world.watchMemory();
  if (start.cancelledAfter !== null) world.agenda.later(start.cancelledAfter, () => world.program.cancel(job));
  if (start.keeps) whenOver(world, job, () => readKept(world, chance, job, jobs));
}

function whenOver(world: World, job: RunningJob, run: () => void): void {
  world.agenda.later(50, () => {
    if (job.outcome === "running" || job.unread > 0) whenOver(world, job, run);
    else run();
  });
}

/** Reads twice, at the same time, what the program has kept of a job; then lets it go. */
function readKept(world: World, chance: Chance, job: RunningJob, jobs: RunningJob[]): void {
  const slices = [...(job.kept ?? [])];
  const last = job.planned.spec.operators.at(-1);
  const isBlocks = last?.kind === "slice" || last?.sink.kind === "blocks";
  if (job.outcome !== "finished" || slices.length === 0 || !isBlocks) {
    world.program.letGo(job);
    return;
  }
  const again = [1, 2].map((n) => {
    const name = `${job.planned.spec.id}-again${n}`;
    return world.program.start(jobOverBlocks(chance, name, slices, job.received, job.planned.pagesPerRow));
  });
  jobs.push(...again);
  world.watchMemory();
  const [first, second] = again;
  if (first === undefined || second === undefined) return;
  whenOver(world, first, () => whenOver(world, second, () => world.program.letGo(job)));
}

/** Throws where the session has not ended as it must. */
export function check({ world, jobs, session }: Outcome, mayFail: (job: RunningJob) => boolean): void {
  for (const job of jobs) checkJob(world, job, mayFail);
  if (isUndisturbed(session)) for (const job of jobs) checkPrompt(job, hasWorkersForAll(session));
  if (session.memory?.needs === "truth" && fits(session)) checkNoKill(world);
  const { ledger } = world.scheduler;
  ledger.assertConsistent();
  const left = {
    jobs: world.scheduler.jobs,
    bytes: ledger.live,
    blocks: ledger.blocks,
    files: world.disk.files.size,
    busyWorkers: world.workers.busy,
    pausedWorkers: world.workers.paused,
    startingWorkers: world.workers.starting,
    memoryQuestions: world.questions.open,
    waitsOfTheProgram: world.workers.memory?.waitsOfProgram ?? 0,
  };
  for (const [what, count] of Object.entries(left)) if (count !== 0) throw new Error(`${count} ${what} are left`);
  const { alive, starts } = world.workers;
  if (alive > session.workers || (alive < session.workers && !starts.mayHaveGivenUp)) {
    throw new Error(`${alive} workers instead of ${session.workers}`);
  }
  if (mustNotSpill(session) && world.disk.spilled > 0) {
    throw new Error(`${world.disk.spilled} blocks went to disk, though the store had room for all that flows`);
  }
}

/** Tasks fit one by one, the store holds what flows, and each takes what its first batch shows: nothing is ended. */
function checkNoKill({ workers }: World): void {
  const { monitorKills, memory } = workers;
  const kills = monitorKills + (memory?.systemKills ?? 0);
  if (kills > 0) throw new Error(`${kills} workers were ended for memory, though their tasks fit one by one`);
}

/** Some functions take minutes for a block, and nobody waits for room. */
function isUndisturbed({ dangers, pages, starts }: Session): boolean {
  const isCalm = Object.values(dangers).every((value) => value === 0);
  return isCalm && pages >= STORES.large[0] && starts.some(({ planned }) => planned.slow !== undefined);
}

/** A slow function runs once at a time: the others have a worker at least. */
function hasWorkersForAll({ workers, starts }: Session): boolean {
  return workers > starts.filter(({ planned }) => planned.slow !== undefined).length;
}

/** Less than a single block of a slow function takes. */
const PROMPT = 30_000;

/**
 * Nobody who has all of its input waits for long for the wide kernel; nor, where there is a worker beside the slow
 * ones, for anything.
 */
function checkPrompt({ planned, stats, startedAt, endedAt }: RunningJob, everybodyHasWorkers: boolean): void {
  const name = `the job ${planned.spec.id}`;
  for (const { heldBack } of stats?.operators ?? []) {
    const seconds = heldBack.WideKernelBackpressurePolicy ?? 0;
    if (seconds * 1000 > PROMPT) throw new Error(`${name} waited ${seconds} s for the wide kernel`);
  }
  if (planned.slow !== undefined || endedAt === null || !everybodyHasWorkers) return;
  const took = endedAt - startedAt;
  if (took > PROMPT) throw new Error(`${name} took ${took} ms: it waited for slow ones`);
}

/** Nothing but what flows is in the store, there is room for it, and the program only takes its time. */
function mustNotSpill(session: Session): boolean {
  const isOnlySlow = Object.entries(session.dangers).every(([danger, value]) => danger === "pause" || value === 0);
  const keepsNothing = session.kept === null && session.starts.every(({ keeps }) => !keeps);
  // Twice what flows, so that the payloads of functions have a place as well.
  const isAmple = fits({ ...session, pages: session.pages / 2 });
  return isOnlySlow && keepsNothing && session.managedTarget === null && isAmple && session.pages >= STORES.large[0];
}

function checkJob(world: World, job: RunningJob, mayFail: (job: RunningJob) => boolean): void {
  const { expected, spec } = job.planned;
  const name = `the job ${spec.id}`;
  if (job.outcome === "failed" && !mayFail(job)) throw new Error(`${name} failed: ${job.error}`);
  if (job.outcome === "running") throw new Error(`${name} did not end`);
  if (job.outcome !== "finished") return;
  const last = spec.operators.at(-1);
  if (job.rows !== expected.length) throw new Error(`${name} has ${job.rows} rows instead of ${expected.length}`);
  if (last?.kind === "tasks" && last.sink.kind === "files" && !world.committed.has(spec.id)) {
    throw new Error(`${name} did not commit its files`);
  }
  if (last?.kind === "tasks" && last.sink.kind !== "blocks") return;
  const received = spec.preserveOrder ? job.received : Float64Array.from(job.received).sort();
  const wanted = spec.preserveOrder ? expected : Float64Array.from(expected).sort();
  if (received.some((row, i) => row !== wanted[i])) throw new Error(`${name} has other rows, or another order`);
}
