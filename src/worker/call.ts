/** A function that `session.run` calls once in this worker, outside of any task. Its result travels with its types. */
import { serialize } from "node:v8";
import { reviveFunction } from "../closure/revive.ts";
import { FunctionError } from "../errors/index.ts";
import type { WorkerAnswer, WorkerId } from "../protocol/index.ts";
import { isError } from "../realm/index.ts";
import { userFailure } from "./user-failure.ts";

export async function callFunction(worker: WorkerId, payload: string): Promise<WorkerAnswer> {
  const { call, args, mapStack } = await reviveFunction(Buffer.from(payload, "base64"));
  let value: unknown;
  try {
    value = await call(...args);
  } catch (thrown) {
    throw userFailure("run", `the function failed in worker ${worker}`, thrown, mapStack);
  }
  return { worker, value: encoded(worker, value), error: null };
}

function encoded(worker: WorkerId, value: unknown): string {
  try {
    return serialize(value).toString("base64");
  } catch (error) {
    const { name, message } = isError(error) ? error : new Error(String(error));
    throw new FunctionError(
      `run: what the function returned in worker ${worker} cannot be sent back: ${message} Return plain data.`,
      "run",
      null,
      null,
      [],
      name,
      null,
    );
  }
}
