/** The ledger in which a user's sessions on one node find each other. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NodeLedger } from "../../src/supervisor/node-ledger.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("ledger");

function open(path: string, session: string, node = "n"): NodeLedger {
  const ledger = NodeLedger.open(path, node, session);
  if (ledger === null) throw new Error("there are no locks here");
  return ledger;
}

/** What a session sees in its turn, in which it writes its own name. */
function seen(ledger: NodeLedger, name: string): readonly unknown[] {
  let others: readonly unknown[] = [];
  expect(
    ledger.turn((read) => {
      others = read;
      return { name };
    }),
  ).toBe(true);
  return others;
}

test("[M1] sessions of a node see what the others have written, and not themselves", () => {
  const path = join(directory, "both");
  const [a, b, elsewhere] = [open(path, "a"), open(path, "b"), open(path, "c", "other")];
  expect(seen(a, "a")).toEqual([]);
  expect(seen(elsewhere, "c")).toEqual([]);
  expect(seen(b, "b")).toEqual([{ name: "a" }]);
  expect(seen(a, "a again, and longer")).toEqual([{ name: "b" }]);
  expect(seen(b, "b")).toEqual([{ name: "a again, and longer" }]);
  a.close();
  expect(seen(b, "b")).toEqual([]);
  b.close();
  elsewhere.close();
  expect(existsSync(path)).toBe(false);
});

test("[M1] the file of a session that was killed is not believed, and goes", () => {
  const path = join(directory, "killed");
  const a = open(path, "a");
  writeFileSync(join(path, "n-dead.json"), JSON.stringify({ name: "dead" }), { mode: 0o600 });
  symlinkSync("/etc/hostname", join(path, "n-link.json"));
  expect(seen(a, "a")).toEqual([]);
  expect(readdirSync(path).sort()).toEqual(["n-a.json", "n-link.json"]);
  rmSync(join(path, "n-link.json"));
  a.close();
});

test("[M1] only one has its turn at a time", () => {
  const path = join(directory, "turns");
  const [a, b] = [open(path, "a"), open(path, "b")];
  let inner: boolean | null = null;
  a.turn(() => {
    inner = b.turn(() => ({}));
    return {};
  });
  expect(inner).toBe(false);
  b.close();
  a.close();
});

test("[M1] a directory that others may write to is not used", () => {
  const path = join(directory, "open");
  mkdirSync(path);
  chmodSync(path, 0o777);
  expect(() => open(path, "a")).toThrow("is open to other users");
});
