/** What cannot travel, and the odd corners of modules. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lineOf, type Outcome, openWorkshop, type Workshop } from "./workshop.ts";

let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop?.close());

function agree(outcome: Outcome): void {
  expect(outcome.shipped.filter((one) => one.refused !== undefined)).toEqual([]);
  const here = Object.fromEntries(outcome.shipped.map((one) => [one.name, one.local]));
  expect(Object.fromEntries(Object.entries(outcome.answers).map(([name, { value }]) => [name, value]))).toEqual(here);
}

const major = Number.parseInt(process.versions.node, 10);

describe("refusals", () => {
  let outcome: Outcome;
  beforeAll(async () => {
    outcome = await workshop.tsx("refused.ts", "module");
  });
  const refusal = (name: string) => outcome.shipped.filter((one) => one.name === name).find((one) => one.refused);

  it("[A5] an open socket is refused by name and line, with a remedy", () => {
    expect(refusal("socket")).toMatchObject({ error: "CaptureError", variable: "socket" });
    expect(refusal("socket")?.at).toMatch(new RegExp(`^refused\\.ts:${lineOf("refused.ts", "socket")}:10$`));
    expect(refusal("socket")?.refused).toMatch(
      /^map: .*"socket" \(refused\.ts:\d+:\d+\), which is an instance of Socket/,
    );
    expect(refusal("socket")?.refused).toContain("Open it inside the function");
  });

  it("[A5] a refusal names the path to the culprit inside a captured object", () => {
    expect(refusal("nested")).toMatchObject({ variable: "cfg.client.list[1].socket" });
    expect(refusal("nested")?.at).toContain(`:${lineOf("refused.ts", "nested")}:`);
    expect(refusal("inside a map")?.variable).toBe("dataset.rows.sink");
    expect(refusal("constructor argument")?.variable).toBe("constructorArgs[0].deep");
  });

  it("[A5] a refusal through helper functions names the helper's line and the way to it", () => {
    expect(refusal("through helpers")?.at).toContain(`:${lineOf("refused.ts", "helper-socket")}:`);
    expect(refusal("through helpers")?.refused).toContain(
      'the function "send", reached through wrap → send, uses "socket"',
    );
  });

  it.each([
    ["server", "an instance of Server"],
    ["stream", "an instance of ReadStream"],
    ["emitter", "an instance of EventEmitter"],
    ["subclass of a Node class", "extends Node's own EventEmitter"],
    ["weak map", "a WeakMap"],
    ["promise", "a Promise"],
    ["proxy", "a Proxy"],
    ["proxy function", "a Proxy"],
    // Its class is EventTarget from Node 22 on.
    ["port", major < 22 ? "an instance of MessagePort" : "an instance of EventTarget"],
    ["symbol", "a symbol without a key"],
    ["generator", "a generator that is running"],
    ["private fields", "an instance of Vault that has private members (#secret)"],
    ["shared memory", "a SharedArrayBuffer"],
    ["abort controller", "an instance of AbortController"],
    ["worker", "an instance of Worker"],
    ["file handle", "an instance of FileHandle"],
    ["method with super", "a word of the class around it"],
  ])("[A5] %s is refused", (name, what) => {
    expect(refusal(name)?.error).toBe("CaptureError");
    expect(refusal(name)?.refused).toContain(what);
  });

  it("[A5] `this` of a method that has ended is refused with a way out", () => {
    expect(refusal("this of a method that has ended")?.at).toContain(`:${lineOf("refused.ts", "this")}:`);
    expect(refusal("this of a method that has ended")?.refused).toContain("const rate = this.rate");
  });

  it("[A5] a constant that has no value yet is refused, a real undefined is not", () => {
    expect(refusal("not initialised")?.refused).toContain("not initialised yet");
    expect(refusal("not initialised")?.at).toContain(`:${lineOf("refused.ts", "late-use")}:`);
    expect(refusal("computed and not initialised")?.refused).toContain("Move its declaration above");
    expect(outcome.answers.undefined?.value).toBe("undefined");
    expect(outcome.answers["unknown global"]?.value).toBe("'undefined'");
  });
});

describe("modules", () => {
  it("[A5] import.meta, packages, JSON and every way to import, through tsx", async () => {
    const outcome = await workshop.tsx("modern.mts", "module");
    agree(outcome);
    expect(outcome.noise).toBe("");
  });

  it.each([
    ["tsx", "module"],
    ["tsx", "commonjs"],
    ["tsc", "module"],
    ["tsc", "commonjs"],
  ] as const)("[A5] every place in which a variable may hide (%s, %s)", async (runner, type) => {
    agree(await workshop[runner]("corners.ts", type));
  });

  it.each(["tsx", "tsc"] as const)("[A5] a worker never imports the program's entry (%s)", async (runner) => {
    agree(await workshop[runner]("entry.ts", "module"));
  });

  it("[A5] plain CommonJS: require, exports, __dirname, sloppy mode, eval", async () => {
    const outcome = await workshop.node("classic.cjs", "commonjs");
    agree(outcome);
    const frames = (outcome.answers.throws?.stack ?? "").split("\n").slice(1);
    expect(frames[0]).toContain(`classic.cjs:${lineOf("classic.cjs", "classic")}:20`);
    expect(frames).toHaveLength(2);
    expect(outcome.noise).toBe("");
  });

  it("[A5] a function given to node -e", async () => {
    agree(
      await workshop.command([
        "-e",
        "const k = 2; let n = 1; ship('eval', (r) => r.v * k + n++, { args: [{ v: 2 }], times: 2 })",
      ]),
    );
  });

  it("[A5] functions typed into a REPL", async () => {
    const lines = [
      "const k = 2",
      "var m = 3",
      "function add(x) { return x + k + m }",
      "ship('repl', (r) => add(r.v), { args: [{ v: 2 }] })",
    ];
    const outcome = await workshop.command(["-i"], `${lines.join("\n")}\n`);
    expect(outcome.answers.repl?.value).toBe("7");
  });
});
