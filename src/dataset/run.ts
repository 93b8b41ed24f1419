/**
 * Turns a plan into a running job: resolves and optimises it, cuts it into stages, and puts its functions into the
 * store.
 */
import {
  type Column,
  type Describe,
  type FunctionNode,
  KeptAnswers,
  optimise,
  type Plan,
  resolve,
  rewriteUp,
  type SourceCall,
  whateverItTakes,
} from "../plan/index.ts";
import type { BlockRef, BlockShape, Bytes, JobId, JobStats, Sink } from "../protocol/index.ts";
import { buildStages, describeSql, jobSpec, type Planning, type Stages, type TaskStage } from "../stages/index.ts";
import { type Cancellation, never } from "./consume/cancellation.ts";
import type { Engine, EngineSettings, FinishedJob, RunningJob } from "./engine.ts";
import { examinedBy } from "./examine.ts";
import { appetiteOf, failedBefore, learnedOf, remember } from "./learned.ts";
import { otherWays } from "./other-way.ts";

const types = new KeptAnswers<readonly Column[]>();

export function describeWith(engine: Engine): Describe {
  return (plan) =>
    types.of(plan, async () => {
      const rows = await engine.inspect(describeSql(plan));
      return rows.map((row): Column => ({ name: String(row.column_name), type: String(row.column_type) }));
    });
}

export async function resolved(engine: Engine, plan: Plan, call: SourceCall = whateverItTakes): Promise<Plan> {
  return resolve(await examinedBy(engine, during(plan, call)), describeWith(engine));
}

export async function optimised(engine: Engine, plan: Plan, call: SourceCall = whateverItTakes): Promise<Plan> {
  return optimise(await resolved(engine, plan, call));
}

/** The plan, with sources that are read for this call. */
function during(plan: Plan, call: SourceCall): Plan {
  return rewriteUp(plan, (node) => {
    const source = node.kind === "scan" ? node.source.during?.(call) : undefined;
    return node.kind === "scan" && source !== undefined ? Object.freeze({ ...node, source }) : node;
  });
}

/** How the session's settings want plans to be cut. */
export function planningOf(engine: Engine): Omit<Planning, "takesRows" | "known"> {
  const { exchange, workers, capacity, targetShuffleMaxBlockSize: scattered } = engine.settings;
  const describe = describeWith(engine);
  return { exchange, workers, capacity, workerKernel: workerKernel(engine.settings), scattered, describe };
}

/** In little memory, a worker has less than its kernel may use, and needs half of it beside the kernel. */
function workerKernel({ workers, capacity, workerLease, pool }: EngineSettings): Bytes | null {
  const share = Math.max(0, pool.memory - pool.overhead - capacity) / workers;
  return workerLease.memory === null ? null : Math.min(workerLease.memory, share / 2);
}

interface StartOptions {
  /** How many output blocks may wait for the reader. */
  readonly wantBlocks: number;
  /** The reader keeps the blocks. Default false. */
  readonly keeps?: boolean;
  /** The caller waits for the job's end, not for its blocks. Default false. */
  readonly toEnd?: boolean;
  readonly preserveOrder?: boolean;
  /** Called a few times a second with the figures so far. Null: it ended early, before there were any. */
  going(stats: JobStats | null): void;
  /** Checked before anything is started. */
  readonly cancellation?: Cancellation;
}

/** Starts a job. `sinkFor` gets the job's id, which names staging directories. */
async function start(
  engine: Engine,
  plan: Plan,
  sinkFor: (id: JobId) => Sink,
  options: StartOptions,
): Promise<RunningJob> {
  const { wantBlocks, keeps = false, toEnd = false, cancellation = never, going } = options;
  const { preserveOrder = engine.settings.preserveOrder } = options;
  const since = performance.now();
  const id = engine.newJobId();
  const sink = sinkFor(id);
  const stages = await buildStages(await optimised(engine, plan, cancellation), sink.kind !== "blocks", {
    ...planningOf(engine),
    since,
  });
  const payloads = await putPayloads(engine, stages);
  const { workers, resources, maxErroredBlocks, maxRetries, maxOomRetries } = engine.settings;
  const context = {
    id,
    sink,
    blocks: blockShape(engine),
    shuffleBytes: engine.settings.targetShuffleMaxBlockSize,
    workers,
    resources,
    preserveOrder,
    maxErroredBlocks,
    maxRetries,
    maxOomRetries,
    payloadOf(node: FunctionNode) {
      const payload = payloads.get(node);
      if (payload === undefined) throw new Error(`${node.form} was not put into the store`);
      return payload;
    },
    learnedOf: (stage: TaskStage) => learnedOf(engine, stage),
    appetiteOf: (stage: TaskStage) => appetiteOf(engine, stage),
    failedBefore: (stage: TaskStage) => failedBefore(engine, stages, stage),
  };
  const release = () => engine.release([...payloads.values()].map((block) => block.id));
  try {
    cancellation.check();
    const otherWay = otherWays(stages, planningOf(engine), context);
    const job = engine.run(jobSpec(stages, context), { wantBlocks, keeps, toEnd, going, otherWay });
    // Errors reach the caller that reads the job; here only the end matters. The promise also keeps `plan` until then,
    // and with it the blocks that it reads.
    job.finished
      .then(({ stats }) => remember(engine, stages, stats))
      .then(release, release)
      .finally(() => plan);
    return job;
  } catch (error) {
    release();
    throw error;
  }
}

/** Starts a job that makes blocks. */
export function startBlocks(engine: Engine, plan: Plan, options: StartOptions): Promise<RunningJob> {
  return start(engine, plan, () => blockShape(engine), options);
}

function blockShape({ settings }: Engine): BlockShape {
  return { kind: "blocks", targetBytes: settings.targetMaxBlockSize, minBytes: settings.targetMinBlockSize };
}

/** Runs a job that makes no blocks, to its end. */
export async function runToEnd(
  engine: Engine,
  plan: Plan,
  sinkFor: (id: JobId) => Sink,
  { cancellation, going }: { readonly cancellation: Cancellation; going(stats: JobStats | null): void },
): Promise<FinishedJob> {
  const options = { wantBlocks: 1, toEnd: true, cancellation, going };
  return cancellation.decidedBy(await start(engine, plan, sinkFor, options));
}

async function putPayloads(engine: Engine, { stages }: Stages): Promise<ReadonlyMap<FunctionNode, BlockRef>> {
  const payloads = new Map<FunctionNode, BlockRef>();
  try {
    for (const stage of stages) {
      for (const step of stage.kind === "tasks" ? stage.steps : []) {
        if (step.kind !== "function" || payloads.has(step.node)) continue;
        payloads.set(step.node, await engine.putBytes(step.node.fn.payload));
      }
    }
  } catch (error) {
    engine.release([...payloads.values()].map((block) => block.id));
    throw error;
  }
  return payloads;
}
