/** How several sessions of a user divide the memory of one node. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { fairShares, grantOf, refusal, type SessionOnNode } from "../../src/memory/index.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

function session(name: string, more: Partial<SessionOnNode> = {}): SessionOnNode {
  const plain = {
    program: 1,
    isBusy: true,
    claim: 0,
    claims: [],
    most: Number.POSITIVE_INFINITY,
    granted: 0,
    holds: 0,
  };
  return { name, ...plain, ...more };
}

const near = (bytes: number | undefined) => Math.round((bytes ?? 0) / MIB);

test("[M1] sessions with a job have equal shares, an idle one its floor", () => {
  const [a, b, idle] = [session("a"), session("b"), session("c", { isBusy: false })];
  expect(near(fairShares(GIB, [a, b]).get("a"))).toBe(512);
  const three = fairShares(4 * GIB, [a, b, idle]);
  // 96 MiB for the program and the system, one worker, 5 % for the store.
  expect(near(three.get("c"))).toBe(Math.round(96 + 150 + 4096 * 0.05));
  expect(near(three.get("a"))).toBe(Math.round((4096 - near(three.get("c"))) / 2));
  expect(near(fairShares(GIB, [idle]).get("c"))).toBe(1024);
});

test("[M1] a floor is never above an equal share", () => {
  const all = [session("a"), session("b", { isBusy: false }), session("c", { isBusy: false })];
  expect([...fairShares(300 * MIB, all).values()].map(near)).toEqual([100, 100, 100]);
});

test("[M1] what options ask for is a floor, resourceLimits.memory a ceiling", () => {
  const shares = fairShares(4 * GIB, [
    session("a", { claim: 3 * GIB }),
    session("b"),
    session("c", { most: 400 * MIB }),
  ]);
  expect(near(shares.get("a"))).toBe(3072);
  expect(near(shares.get("c"))).toBe(400);
  expect(near(shares.get("b"))).toBe(624);
});

test("[M1] a session grows only into what the others have left", () => {
  const first = session("a", { granted: GIB, holds: 700 * MIB });
  const second = session("b");
  expect(near(grantOf(GIB, second, [first]))).toBe(Math.round(96 + 150 + 1024 * 0.05));
  const shrinking = { ...first, granted: 512 * MIB };
  expect(near(grantOf(GIB, second, [shrinking]))).toBe(324);
  expect(near(grantOf(GIB, second, [{ ...shrinking, holds: 300 * MIB }]))).toBe(512);
  expect(near(grantOf(GIB, first, [second]))).toBe(512);
});

test("[M1] a claim that does not fit beside the others is refused with their names and numbers", () => {
  const own = session("b", { claim: 3 * GIB, claims: ["objectStoreMemory", "workers"] });
  const other = session("a", { claim: 2 * GIB, program: 4711 });
  expect(refusal(8 * GIB, own, [other])).toBeNull();
  expect(refusal(4 * GIB, own, [])).toBeNull();
  expect(refusal(4 * GIB, own, [other])).toBe(
    "session: objectStoreMemory, workers need 3.0 GiB, and 2.0 GiB of the node's 4.0 GiB are left beside other sessions of " +
      "yours, which need at least: a (program 4711) 2.0 GiB. Ask for less, end one of them, or let this session not " +
      "share the node (shareNode: false).",
  );
});

test("[M1] shares never sum up to more than the node, however many sessions there are", () => {
  const drawn = fc.array(fc.record({ isBusy: fc.boolean(), most: fc.integer({ min: 100, max: 9_000 }) }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 8_000 }), drawn, (node, sessions) => {
      const all = sessions.map(({ isBusy, most }, i) => session(`s${i}`, { isBusy, most: most * MIB }));
      const sum = [...fairShares(node * MIB, all).values()].reduce((one, other) => one + other, 0);
      expect(sum).toBeLessThanOrEqual(node * MIB + 1);
    }),
  );
});
