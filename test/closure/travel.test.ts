/** What a function may bring along, however the program is run. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lineOf, type Outcome, openWorkshop, type Workshop } from "./workshop.ts";

let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop?.close());

const RUNNERS = [
  ["tsx, ES modules", (shop: Workshop) => shop.tsx("main.ts", "module")],
  ["tsx, CommonJS", (shop: Workshop) => shop.tsx("main.ts", "commonjs")],
  ["tsc, ES modules", (shop: Workshop) => shop.tsc("main.ts", "module")],
  ["tsc, CommonJS", (shop: Workshop) => shop.tsc("main.ts", "commonjs")],
] as const;

describe.each(RUNNERS)("%s", (_, play) => {
  let outcome: Outcome;
  beforeAll(async () => {
    outcome = await play(workshop);
  });

  it("[A5] every captured function answers in a worker as it does in the program", () => {
    const refused = outcome.shipped.filter((one) => one.refused !== undefined);
    expect(refused).toEqual([]);
    const here = Object.fromEntries(outcome.shipped.map((one) => [one.name, one.local]));
    const there = Object.fromEntries(Object.entries(outcome.answers).map(([name, { value }]) => [name, value]));
    expect(there).toEqual(here);
    expect(Object.keys(here).length).toBeGreaterThan(45);
  });

  it("[A14] a stack shows the user's own lines and nothing else", () => {
    const stack = outcome.answers.throws?.stack ?? "";
    const frames = stack.split("\n").filter((line) => line.includes(" at "));
    expect(stack).toMatch(/^TypeError: Cannot read properties of undefined/);
    expect(frames).toHaveLength(2);
    expect(frames[0]).toContain(`${outcome.source}:${lineOf("main.ts", "deeper")}:`);
    expect(frames[0]).toContain("at deeper (");
    expect(frames[1]).toContain(`${outcome.source}:${lineOf("main.ts", "throws")}:`);
  });

  it("[A14] a stack through an imported module shows its source lines", () => {
    const frames = (outcome.answers["throws in a module"]?.stack ?? "")
      .split("\n")
      .filter((line) => line.includes(" at "));
    expect(frames).toHaveLength(2);
    expect(frames[0]).toContain(`helper.ts:${lineOf("helper.ts", "helper")}:`);
    expect(frames[1]).toContain(`main.ts:${lineOf("main.ts", "caller")}:`);
  });

  it("[A5] says what kind of function it is, where it is and which columns it reads", () => {
    const facts = new Map(outcome.shipped.map((one) => [one.name, one]));
    expect(facts.get("async")).toMatchObject({ isAsync: true, isGenerator: false, columns: ["v"] });
    expect(facts.get("generator")).toMatchObject({ isAsync: false, isGenerator: true, columns: ["v"] });
    expect(facts.get("class function")).toMatchObject({ isClass: true, columns: null });
    expect(facts.get("throws")?.location).toMatch(new RegExp(`^main\\.ts:${lineOf("main.ts", "throws") - 2}:`));
  });

  it("[A5] capturing and reviving say nothing on stderr", () => {
    expect(outcome.noise).toBe("");
  });
});
