/** The planner's questions, and kernels that have too little memory for them. */
import { expect, test } from "vitest";
import { KernelError, KernelMemoryError, toWire } from "../../src/errors/index.ts";
import type { KernelLease, WorkerId } from "../../src/protocol/index.ts";
import { ScriptedSession } from "./scripted-session.ts";
import { MIB, POOL } from "./starved.ts";

class Planning extends ScriptedSession {
  ask(): void {
    this.program({ type: "inspect", request: 7, sql: "DESCRIBE …", maxRetries: 3 });
  }

  /** The leases with which it was asked so far; null: the usual one. */
  get asked(): (KernelLease | null)[] {
    return this.commands.flatMap((one) =>
      one.type === "toWorker" && one.message.type === "inspect" ? [one.message.lease ?? null] : [],
    );
  }

  refuses(error: Error): void {
    const message = { type: "refused", request: 7, error: toWire(error) } as const;
    this.tell({ type: "fromWorker", worker: 1 as WorkerId, message });
  }
}

const noMemory = (had: number) => new KernelMemoryError("the kernel ran out of memory", "looking at the files", had, 1);

test("[M3] a look at files that a kernel has too little memory for is tried once more with all that tasks can have", () => {
  const session = new Planning(1, 8, { pool: POOL, workerMemory: 900 * MIB });
  session.ask();
  session.refuses(noMemory(96 * MIB));
  expect(session.wasTold("refused")).toEqual([]);
  const [first, second] = session.asked;
  expect(first).toBeNull();
  expect(second?.memory).toBeGreaterThan(600 * MIB);
  session.refuses(noMemory(second?.memory ?? 0));
  expect(session.asked).toHaveLength(2);
  expect(session.wasTold("refused")).toMatchObject([
    { request: 7, error: { name: "OutOfMemoryError", fields: { reason: "engineMemory", attempts: 2 } } },
  ]);
});

test("[M3] it is not asked again where there is no more, nor for another error", () => {
  const session = new Planning(1, 8, { pool: POOL, workerMemory: 128 * MIB });
  session.ask();
  session.refuses(noMemory(96 * MIB));
  expect(session.wasTold("refused")).toMatchObject([{ error: { name: "OutOfMemoryError", fields: { attempts: 1 } } }]);
  session.ask();
  session.refuses(new KernelError("Binder Error: no", "Binder"));
  expect(session.wasTold("refused").at(-1)).toMatchObject({ error: { name: "KernelError" } });
  expect(session.asked).toEqual([null, null]);
});
