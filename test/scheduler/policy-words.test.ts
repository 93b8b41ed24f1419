/** The words that people read for each backpressure policy. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { policyWords } from "../../src/protocol/index.ts";
import { startPolicies } from "../../src/scheduler/policies/index.ts";

const policies = join(import.meta.dirname, "../../src/scheduler/policies");
const docs = readFileSync(join(import.meta.dirname, "../../docs/resources.md"), "utf8");

/** Every name in the room of the policies, as a string. */
const names = new Set(
  readdirSync(policies).flatMap((file) =>
    [...readFileSync(join(policies, file), "utf8").matchAll(/"(\w+Policy)"/g)].map(([, name = ""]) => name),
  ),
);

test("[O4] each policy has words of its own, which the docs have, too", () => {
  expect(names.size).toBeGreaterThanOrEqual(8);
  for (const { name } of startPolicies) expect(names).toContain(name);
  const words = [...names].map(policyWords);
  for (const name of names) {
    expect(policyWords(name)).not.toContain("Policy");
    expect(docs).toMatch(new RegExp(`\\| \`${name}\` +\\| ${policyWords(name)} +\\|`));
  }
  expect(new Set(words).size).toBe(names.size);
});

test("[O4] a policy that this version does not know keeps its name", () => {
  expect(policyWords("TomorrowsBackpressurePolicy")).toBe("TomorrowsBackpressurePolicy");
  expect(policyWords("toString")).toBe("toString");
});
