/**
 * An operator in this worker: its functions are revived once and its class instances constructed once (A3). Both are
 * kept until the operator is retired.
 */
import { BlockBuilder, type DataType, parseTypeName } from "../arrow/index.ts";
// Imported past the door: the code that captures functions (a parser, the inspector) is not needed in a worker and
// takes 40 ms to load.
import { reviveFunction } from "../closure/revive.ts";
import { FunctionError } from "../errors/index.ts";
import type { Connection } from "../kernel/index.ts";
import type { ArenaRange, JobId, Notice, PlacedSlice, Step, WorkerOperator } from "../protocol/index.ts";
import type { MappedArena } from "../store/index.ts";
import { BroadcastTables } from "./broadcast-tables.ts";
import { type Disposable, disposeAll } from "./dispose.ts";
import { userFailure } from "./user-failure.ts";

type FunctionStep = Extract<Step, { kind: "function" }>;

export interface LoadedFunction {
  readonly step: FunctionStep;
  readonly call: (input: unknown) => unknown;
  readonly mapStack: (stack: string) => string;
  readonly declared: ReadonlyMap<string, DataType> | undefined;
  readonly disposable: Disposable | null;
}

export class LoadedOperator {
  /** Notices of this operator that this worker has already sent. */
  readonly said = new Set<string>();
  /**
   * The memory in which a task assembles its rows. One task runs at a time, and the memory passes from task to task,
   * because growing it anew (fresh memory, copied again and again) took a fifth of a task's time.
   */
  readonly scratch = new BlockBuilder();
  #functions: Promise<ReadonlyMap<Step, LoadedFunction>> | null = null;
  #broadcast: BroadcastTables | null = null;

  constructor(
    readonly job: JobId,
    readonly spec: WorkerOperator,
    private readonly arena: Pick<MappedArena, "view">,
  ) {}

  /** Revived by the first task that needs them. */
  functions(payloads: readonly ArenaRange[]): Promise<ReadonlyMap<Step, LoadedFunction>> {
    this.#functions ??= this.#load(payloads);
    return this.#functions;
  }

  /**
   * Makes an error of an exception outside of every call. Any of its functions may have started the code that threw,
   * even in an earlier task.
   */
  async uncaught(thrown: unknown): Promise<FunctionError> {
    const loaded = await this.#functions?.catch(() => null);
    const functions = [...(loaded?.values() ?? [])];
    const names = functions.map(({ step }) => step.operator).join(" or ") || "a function";
    // Among several functions, uses the one that can map the most lines.
    const mapStack = (stack: string) =>
      functions.map((one) => one.mapStack(stack)).reduce((best, one) => (one.length > best.length ? one : best), "");
    const what = "an error was not caught (in a timer, or in a promise that is not awaited)";
    return userFailure(names, what, thrown, mapStack);
  }

  get hasFunctions(): boolean {
    return this.spec.steps.some(({ kind }) => kind === "function");
  }

  /** The kernel was replaced: the next task makes its tables again. */
  kernelRenewed(): void {
    this.#broadcast = null;
  }

  /** The SQL for each broadcast table. The first task makes the tables, and all tasks use them. */
  async broadcast(connection: Connection, blocks: readonly (readonly PlacedSlice[])[]): Promise<readonly string[]> {
    if (this.spec.broadcast.length === 0) return [];
    this.#broadcast ??= new BroadcastTables(connection, this.spec.broadcast, this.arena);
    return this.#broadcast.fill(blocks);
  }

  /** Called when no task of the operator runs any more. */
  async dispose(notice: (what: string, notice: Notice) => void): Promise<void> {
    this.scratch.release();
    this.#broadcast?.drop();
    if (this.#functions === null) return;
    const functions = await this.#functions.catch(() => null);
    await disposeAll(
      [...(functions?.values() ?? [])].flatMap(({ disposable }) => disposable ?? []),
      notice,
    );
  }

  async #load(payloads: readonly ArenaRange[]): Promise<ReadonlyMap<Step, LoadedFunction>> {
    const steps = this.spec.steps.filter((step) => step.kind === "function");
    // Copied out of the arena at once: revived values must not lie over memory that is used again.
    const copies = payloads.map((range) => Uint8Array.from(this.arena.view(range)));
    const loaded = new Map<Step, LoadedFunction>();
    for (const [i, step] of steps.entries()) {
      const payload = copies[i];
      if (payload === undefined) throw new Error(`no payload came for ${step.operator}`);
      loaded.set(step, await this.#loadOne(step, payload));
    }
    return loaded;
  }

  async #loadOne(step: FunctionStep, payload: Uint8Array): Promise<LoadedFunction> {
    const revived = await reviveFunction(payload);
    const { mapStack } = revived;
    const declared =
      step.options.schema === undefined
        ? undefined
        : new Map(Object.entries(step.options.schema).map(([name, type]) => [name, parseTypeName(type)]));
    if (!step.isClass) return { step, call: revived.call, mapStack, declared, disposable: null };
    const instance = await this.#construct(step, revived.construct, mapStack);
    return {
      step,
      call: (input) => instance.call(input),
      mapStack,
      declared,
      disposable:
        typeof instance.dispose === "function"
          ? {
              operator: step.operator,
              dispose: () => instance.dispose?.(),
              failure: (thrown) => failure(step, "dispose()", thrown, mapStack),
            }
          : null,
    };
  }

  async #construct(
    step: FunctionStep,
    construct: (() => unknown) | null,
    mapStack: (stack: string) => string,
  ): Promise<{ call(input: unknown): unknown; dispose?(): unknown }> {
    let instance: unknown;
    try {
      instance = await construct?.();
    } catch (thrown) {
      throw failure(step, "constructor", thrown, mapStack);
    }
    if (isCallable(instance)) return instance;
    throw new FunctionError(
      `${step.operator}: a class function needs a method call(batch).`,
      step.operator,
      null,
      null,
      [],
      "TypeError",
      null,
    );
  }
}

function failure(
  { operator }: FunctionStep,
  part: string,
  thrown: unknown,
  mapStack: (stack: string) => string,
): FunctionError {
  return userFailure(operator, `its ${part} failed`, thrown, mapStack);
}

function isCallable(value: unknown): value is { call(input: unknown): unknown; dispose?(): unknown } {
  return typeof value === "object" && value !== null && "call" in value && typeof value.call === "function";
}
