/** An observer that does not read, over a real socket. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EventRecorder, Observer, type ToObserver } from "../../src/events/index.ts";
import { type RecordedEvent, Wire } from "../../src/protocol/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = temporaryDirectory("observer");
const BATCH = 1_000;

const noProfile = () => Promise.reject(new Error("there is no worker"));

function notices(batch: number): RecordedEvent[] {
  return Array.from({ length: BATCH }, (_, i) => ({
    at: batch,
    type: "notice",
    notice: { kind: "kernelSpilled", operator: "x".repeat(1_000), bytes: i },
  }));
}

test("[W2] an observer that does not read holds nothing up: what it missed is dropped and counted", async () => {
  const recorder = new EventRecorder(join(root, "logs"), 2 ** 30);
  const server = createServer((socket) => new Observer(new Wire(socket), recorder, noProfile));
  server.listen(join(root, "socket"));
  await once(server, "listening");
  const socket: Socket = connect(join(root, "socket"));
  await once(socket, "connect");
  const messages: ToObserver[] = [];
  const told = () =>
    messages.reduce(
      (sum, one) => sum + (one.type === "events" ? one.events.length : one.type === "snapshot" ? one.dropped : 0),
      0,
    );
  const joined = () => once(server, "connection");
  if ((await connections(server)) === 0) await joined();
  // About 20 MiB, which neither the system nor the session keeps for it.
  for (let batch = 1; batch <= 20; batch++) {
    recorder.record(notices(batch));
    recorder.flush();
    await new Promise(setImmediate);
  }
  new Wire<ToObserver, never>(socket).onMessage((message) => messages.push(message));
  await expect.poll(told).toBe(20 * BATCH);
  const snapshots = messages.flatMap((one) => (one.type === "snapshot" ? [one] : []));
  expect(snapshots.length).toBe(2);
  expect(snapshots[0]?.dropped).toBe(0);
  expect(snapshots[1]?.dropped).toBeGreaterThan(BATCH);
  expect(snapshots[1]?.state.happened.length).toBeGreaterThanOrEqual(18 * BATCH);
  // From here on it gets every event again.
  recorder.record(notices(21));
  recorder.flush();
  await expect.poll(() => messages.at(-1)).toMatchObject({ type: "events", events: { length: BATCH } });
  socket.destroy();
  server.close();
  await recorder.close();
});

function connections(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
