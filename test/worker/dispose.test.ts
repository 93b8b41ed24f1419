import { afterEach, expect, test, vi } from "vitest";
import { FunctionError } from "../../src/errors/index.ts";
import { noticeText } from "../../src/notices/index.ts";
import { DISPOSE_PATIENCE, type Disposable, disposeAll } from "../../src/worker/dispose.ts";

afterEach(() => vi.useRealTimers());

function instance(operator: string, dispose: () => unknown): Disposable {
  const failure = (thrown: unknown) =>
    new FunctionError(`${operator}: ${String(thrown)}`, operator, null, null, [], "Error", null);
  return { operator, dispose, failure };
}

test("[A3] a dispose that never settles is waited for ten seconds, and the user is told", async () => {
  vi.useFakeTimers();
  const said: string[] = [];
  let after = false;
  const never = instance("mapBatches(Never)", () => new Promise(() => {}));
  const next = instance("mapBatches(Next)", () => {
    after = true;
  });
  const done = disposeAll([never, next], (_, notice) => said.push(noticeText(notice)));
  await vi.advanceTimersByTimeAsync(DISPOSE_PATIENCE - 1);
  expect([after, said]).toEqual([false, []]);
  await vi.advanceTimersByTimeAsync(1);
  await done;
  expect(after).toBe(true);
  expect(said).toEqual(["mapBatches(Never): its dispose() has not ended after 10 s; the job continues without it."]);
});

test("[A3] one that throws does not keep the others from being disposed of", async () => {
  const gone: string[] = [];
  const bad = (name: string) =>
    instance(name, () => {
      throw new Error(`${name} stays`);
    });
  const good = instance("good", async () => gone.push("good"));
  await expect(disposeAll([bad("first"), good, bad("second")], () => {})).rejects.toThrow("first: Error: first stays");
  expect(gone).toEqual(["good"]);
});
