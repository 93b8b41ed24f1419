import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { MAX_FRAME, Wire } from "../../src/protocol/index.ts";

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function pair(): Promise<{ near: Socket; far: Socket; close: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), "spillway-frames-"));
  directories.push(directory);
  const server = createServer().listen(join(directory, "s"));
  await once(server, "listening");
  const near = createConnection(join(directory, "s"));
  const [far] = (await once(server, "connection")) as [Socket];
  const close = async (): Promise<void> => {
    near.destroy();
    far.destroy();
    server.close();
    await once(server, "close");
  };
  return { near, far, close };
}

interface Numbered {
  n: number;
  text?: string;
}

function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

test("many small frames arrive whole and in order", async () => {
  const { near, far, close } = await pair();
  const sender = new Wire<never, Numbered>(near);
  const receiver = new Wire<Numbered, never>(far);
  const seen: number[] = [];
  const all = new Promise<void>((resolve) => {
    receiver.onMessage((message) => {
      seen.push(message.n);
      if (seen.length === 20_000) resolve();
    });
  });
  for (let n = 0; n < 20_000; n++) sender.send({ n });
  await all;
  expect(seen).toEqual(Array.from({ length: 20_000 }, (_, n) => n));
  await close();
});

test("a frame cut anywhere, header included, is put together again", async () => {
  const { near, far, close } = await pair();
  const receiver = new Wire<Numbered, never>(far);
  const seen: Numbered[] = [];
  let wake = (): void => undefined;
  receiver.onMessage((message) => {
    seen.push(message);
    wake();
  });
  const bytes = Buffer.concat([frame('{"n":1,"text":"größer"}'), frame('{"n":2}')]);
  for (const byte of bytes) {
    await new Promise<void>((resolve) => near.write(Buffer.of(byte), () => resolve()));
    await new Promise(setImmediate);
  }
  while (seen.length < 2) await new Promise<void>((resolve) => (wake = resolve));
  expect(seen).toEqual([{ n: 1, text: "größer" }, { n: 2 }]);
  await close();
});

test("a large frame does not cost quadratic copying", async () => {
  const { near, far, close } = await pair();
  const sender = new Wire<never, Numbered>(near);
  const receiver = new Wire<Numbered, never>(far);
  const text = "x".repeat(64 * 1024 * 1024);
  const before = process.cpuUsage();
  sender.send({ n: 1, text });
  const message = await new Promise<Numbered>((resolve) => receiver.onMessage(resolve));
  expect(message.text?.length).toBe(text.length);
  // Its own time: on a busy machine the clock also counts the others'. Copied at every piece, it is 32 GiB.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(5_000);
  await close();
});

test("malformed JSON closes the connection and says so", async () => {
  const { near, far, close } = await pair();
  const receiver = new Wire<Numbered, never>(far);
  const seen: Numbered[] = [];
  receiver.onMessage((message) => seen.push(message));
  const closed = new Promise<Error | null>((resolve) => receiver.onClose(resolve));
  near.write(Buffer.concat([frame('{"n":1}'), frame("{nonsense"), frame('{"n":3}')]));
  expect((await closed)?.message).toMatch(/a frame of 9 bytes is not JSON/);
  expect(seen).toEqual([{ n: 1 }]);
  await close();
});

test("a frame above the limit is refused by its header alone", async () => {
  const { near, far, close } = await pair();
  const receiver = new Wire<Numbered, never>(far);
  receiver.onMessage(() => undefined);
  const closed = new Promise<Error | null>((resolve) => receiver.onClose(resolve));
  const header = Buffer.alloc(4);
  header.writeUInt32LE(MAX_FRAME + 1);
  near.write(header);
  expect((await closed)?.message).toContain(`${MAX_FRAME + 1} bytes is over the limit of ${MAX_FRAME}`);
  await close();
});

test("close sends what is queued, and the peer sees an orderly end", async () => {
  const { near, far, close } = await pair();
  const sender = new Wire<never, Numbered>(near);
  const receiver = new Wire<Numbered, never>(far);
  const seen: number[] = [];
  receiver.onMessage((message) => seen.push(message.n));
  const closed = new Promise<Error | null>((resolve) => receiver.onClose(resolve));
  for (let n = 0; n < 1000; n++) sender.send({ n });
  sender.close();
  sender.send({ n: -1 });
  expect(await closed).toBe(null);
  expect(seen.length).toBe(1000);
  expect(seen.at(-1)).toBe(999);
  await close();
});

test("a handler that throws has had its message: it does not come again, and those after it do", async () => {
  const { far, close } = await pair();
  const receiver = new Wire<Numbered, never>(far);
  const got: number[] = [];
  receiver.onMessage(({ n }) => {
    got.push(n);
    if (n === 1) throw new Error("of the handler");
  });
  const both = Buffer.concat([frame('{"n":1}'), frame('{"n":2}')]);
  expect(() => far.emit("data", both)).toThrow("of the handler");
  far.emit("data", frame('{"n":3}'));
  expect(got).toEqual([1, 2, 3]);
  await close();
});
