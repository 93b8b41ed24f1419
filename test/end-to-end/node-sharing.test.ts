/** Two sessions of a user on one node: what each gets, and what is refused. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Session, session, type TimedEvent } from "spillway";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("sharing");
const SHARES = { progress: false, dashboard: false, shareNode: true } as const;

type NodeShare = Extract<TimedEvent, { type: "nodeShare" }>;

const open: Session[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** A session in a ledger of this test's own, and what it was told of its share. */
function sharing(options: Parameters<typeof session>[0] = {}): { readonly one: Session; readonly shares: NodeShare[] } {
  vi.stubEnv("TMPDIR", directory);
  const one = session({ ...SHARES, ...options });
  open.push(one);
  const shares: NodeShare[] = [];
  one.onEvent((event) => {
    if (event.type === "nodeShare") shares.push(event);
  });
  return { one, shares };
}

test("[M1] a session that starts beside another says what it got; the first shrinks, and grows when the other ends", async () => {
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const first = sharing();
  expect(
    await first.one
      .range(1000)
      .map((row) => row)
      .count(),
  ).toBe(1000);
  expect(first.shares).toEqual([]);
  const second = sharing();
  expect(
    await second.one
      .range(1000)
      .map((row) => row)
      .count(),
  ).toBe(1000);
  await expect.poll(() => first.shares.at(-1)?.sessions, { timeout: 5_000 }).toBe(2);
  const shrunk = first.shares.at(-1);
  expect(shrunk?.memory).toBeLessThan(shrunk?.of ?? 0);
  expect(said.mock.calls.map(([text]) => String(text)).join("")).toContain(
    "This session shares its node with 1 other session",
  );
  await second.one.close();
  await expect.poll(() => first.shares.at(-1)?.memory, { timeout: 5_000 }).toBe(shrunk?.of);
  await first.one.close();
  expect(readdirSync(directory).filter((name) => name.startsWith("spillway-node-"))).toEqual([]);
});

test("[M1] options that do not fit beside another session are refused, with its name and the numbers", async () => {
  const first = sharing();
  await first.one
    .range(10)
    .map((row) => row)
    .count();
  const second = sharing({ objectStoreMemory: 0.98 });
  await expect(
    second.one
      .range(10)
      .map((row) => row)
      .count(),
  ).rejects.toThrow(
    /objectStoreMemory need .* are left beside other sessions of yours.*\(program \d+\).*shareNode: false/s,
  );
});

test("[M1] shareNode: false neither tells nor asks", async () => {
  const first = sharing({ shareNode: false });
  const second = sharing({ shareNode: false });
  expect(
    await first.one
      .range(10)
      .map((row) => row)
      .count(),
  ).toBe(10);
  expect(
    await second.one
      .range(10)
      .map((row) => row)
      .count(),
  ).toBe(10);
  expect(existsSync(join(directory, `spillway-node-${process.geteuid?.() ?? 0}`))).toBe(false);
});
