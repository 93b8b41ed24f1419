/**
 * Samples in the thread that runs the user's functions: V8 samples objects, and `Buffers` samples buffers. Everything
 * is synchronous, so that it can begin, take a snapshot and end in the middle of a function.
 */
import { Session } from "node:inspector";
import { getHeapStatistics } from "node:v8";
import { SpillwayError } from "../errors/index.ts";
import { Buffers, type Counted } from "./buffers.ts";
import { PROFILER, type Snapshot, type V8Profile } from "./snapshot.ts";
import { replaceMakers } from "./stand-ins.ts";

/** Mean bytes between two of V8's samples. */
const INTERVAL = 32 * 1024;
const GROUP = "spillway-profile";
/** Numbers per buffer. */
const WIDTH = 3;

/** An entry of a WeakMap as the inspector returns it. */
interface Entry {
  readonly key: ArrayBufferLike;
  readonly value: Counted;
}

const NOTHING: V8Profile = {
  head: { callFrame: { functionName: "(root)", url: "", lineNumber: -1, columnNumber: -1 }, id: 0, children: [] },
  samples: [],
};

/** Taken from the global object before the stand-ins are put there. */
const OwnFloat64Array = Float64Array;
const epoch = performance.timeOrigin;

export class Sampler {
  readonly #session = new Session();
  readonly #buffers: Buffers;
  readonly #restore: () => void;
  /** True during a snapshot, which another thread may interrupt. */
  isLooking = false;
  #taken: Float64Array = new OwnFloat64Array(0);

  /**
   * `kernel` returns the bytes that the kernel is known to hold. `grown` is called when many buffers have just been
   * made.
   */
  constructor(
    private readonly kernel: () => number,
    grown: () => void,
  ) {
    this.#buffers = new Buffers(grown);
    this.#session.connect();
    this.#ask("HeapProfiler.startSampling", { samplingInterval: INTERVAL });
    this.#restore = replaceMakers(this.#buffers);
  }

  /** Read through the inspector. */
  get counted(): object {
    return this.#buffers.counted;
  }

  /** The state when sampling begins: nothing in it belongs to a profile. */
  beginning(): Snapshot {
    return this.#snapshot(NOTHING, performance.now());
  }

  /** V8 first collects garbage, so everything in the snapshot lives. */
  snapshot(): Snapshot {
    const started = performance.now();
    this.isLooking = true;
    try {
      const { profile } = this.#ask<{ profile: V8Profile }>("HeapProfiler.getSamplingProfile");
      this.#takeBuffers();
      return this.#snapshot(profile, started);
    } finally {
      this.isLooking = false;
    }
  }

  #snapshot({ head, samples }: V8Profile, started: number): Snapshot {
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    const { total_physical_size: heapResident } = getHeapStatistics();
    return {
      at: epoch + performance.now(),
      v8: { head, samples },
      buffers: this.#taken,
      stacks: this.#buffers.stacks.takeUntold(),
      lastBuffer: this.#buffers.last,
      heapUsed,
      heapResident,
      arrayBuffers,
      kernel: this.kernel(),
      resident: rss,
      took: performance.now() - started,
    };
  }

  stop(): void {
    this.#buffers.stop();
    this.#restore();
    this.#ask("HeapProfiler.stopSampling");
    this.#session.disconnect();
  }

  /** Only the inspector can list the entries of a WeakMap, and it can do so at any moment. */
  #takeBuffers(): void {
    const map = this.#ask<{ result: { objectId: string } }>("Runtime.evaluate", {
      expression: `globalThis[Symbol.for(${JSON.stringify(PROFILER)})].counted`,
      objectGroup: GROUP,
    });
    const { internalProperties } = this.#ask<{
      internalProperties: readonly { readonly name: string; readonly value: { readonly objectId: string } }[];
    }>("Runtime.getProperties", { objectId: map.result.objectId, ownProperties: true });
    const entries = internalProperties.find(({ name }) => name === "[[Entries]]");
    this.#ask("Runtime.callFunctionOn", {
      objectId: entries?.value.objectId,
      functionDeclaration: `function () { globalThis[Symbol.for(${JSON.stringify(PROFILER)})].take(this); }`,
      objectGroup: GROUP,
    });
    this.#ask("Runtime.releaseObjectGroup", { objectGroup: GROUP });
  }

  /** Called through the inspector. */
  take(entries: ArrayLike<Entry>): void {
    const taken = new OwnFloat64Array(entries.length * WIDTH);
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i];
      if (entry === undefined) continue;
      const { id, stack, scale } = entry.value;
      // A buffer that was transferred to another thread has zero bytes left.
      taken.set([id, stack, entry.key.byteLength * scale], i * WIDTH);
    }
    this.#taken = taken;
    this.#buffers.living(entries.length);
  }

  /** On its own thread, the inspector answers before `post` returns. */
  #ask<Answer>(method: string, params: object = {}): Answer {
    let failed: Error | null = null;
    let answer: unknown;
    this.#session.post(method, params, (error, result) => {
      failed = error;
      answer = result;
    });
    if (failed !== null) throw new SpillwayError(`The inspector refused ${method}: ${JSON.stringify(failed)}`);
    return answer as Answer;
  }
}
