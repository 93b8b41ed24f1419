/** What reaches the user of an error in a function (A14): its causes, its fields, its own lines. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer, Socket } from "node:net";
import { join } from "node:path";
import { col, FunctionError, type RowFunctionOptions, WriteError } from "spillway";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runScript } from "../support/scripts.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("function-errors");
const s = sessions.open({ workers: 1 });

async function failure(fn: (row: { id: number }) => unknown, options: RowFunctionOptions = {}): Promise<FunctionError> {
  const run = s.range(1).map((row) => fn(row) as Promise<{ id: number }>, options);
  const error = await run.takeAll().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof FunctionError) return error;
  throw new Error(`no FunctionError came, but ${String(error)}`);
}

class QuotaError extends Error {
  override readonly name = "QuotaError";
  readonly left = 3;
  readonly until = new Date(0);
  readonly plan = { name: "free" };
}

describe("causes", () => {
  test("[A14] a refused fetch says where to, and that it was refused", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(async () => {
      await fetch(`http://127.0.0.1:${port}/none`);
    });
    expect(error.message).toMatch(/fetch failed/);
    expect(error.message).toMatch(new RegExp(`caused by: .*ECONNREFUSED 127\\.0\\.0\\.1:${port}`));
    expect(error.cause).toMatchObject({
      name: "TypeError",
      cause: { code: "ECONNREFUSED", address: "127.0.0.1", port },
    });
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  test("[A14] a chain of causes, custom fields and what is no error arrive as they were", async () => {
    const error = await failure((row) => {
      const first = Object.assign(new Error("no such row"), { code: "E_ROW", detail: { id: row.id }, big: 2n ** 70n });
      throw new QuotaError("out of calls", { cause: new RangeError("too many", { cause: first }) });
    });
    expect(error).toMatchObject({ errorName: "QuotaError" });
    expect(error.cause).toMatchObject({ name: "QuotaError", message: "out of calls", left: 3, plan: { name: "free" } });
    expect(error.cause).toMatchObject({ cause: { name: "RangeError", cause: { code: "E_ROW", detail: { id: 0 } } } });
    const lines = error.message.split("\n").map((line) => line.trim());
    expect(lines[0]).toContain("QuotaError: out of calls");
    expect(lines).toContainEqual(expect.stringMatching(/^left: 3, until: 1970.*, plan: \{ name: 'free' \}$/));
    expect(lines).toContain("caused by: RangeError: too many");
    expect(lines).toContainEqual(expect.stringMatching(/^caused by: Error: no such row \(code: 'E_ROW'.*\)$/));
    const plain = await failure(() => {
      throw new Error("plain", { cause: "a text" });
    });
    expect(plain.cause).toMatchObject({ cause: "a text" });
    expect(plain.message).toContain("caused by: 'a text'");
  });

  test("[A14] all errors of an AggregateError are told", async () => {
    const error = await failure(async () =>
      Promise.any([Promise.reject(new TypeError("one")), Promise.reject(Object.assign(new Error("two"), { code: 2 }))]),
    );
    expect(error.message).toMatch(/one of its errors: TypeError: one\n *one of its errors: Error: two \(code: 2\)/);
    expect(error.cause).toBeInstanceOf(AggregateError);
    expect(error.cause).toMatchObject({ errors: [{ name: "TypeError", message: "one" }, { code: 2 }] });
  });

  test("[A14] errors that go round in circles, or are not as errors should be, end", async () => {
    const error = await failure(() => {
      const one = new Error("one");
      const two = new Error("two", { cause: one });
      one.cause = two;
      Object.defineProperty(one, "trap", {
        enumerable: true,
        get() {
          throw new Error("not this way");
        },
      });
      throw one;
    });
    expect(error.message).toContain("caused by: Error: two");
    expect(error.cause).toMatchObject({ message: "one", cause: { message: "two" } });
  });
});

test("[A14] what is thrown and is no error is told as that", async () => {
  const thrown: readonly (readonly [() => unknown, RegExp])[] = [
    [() => "a text", /failed on row 0: it threw 'a text', which is not an Error/],
    [() => null, /failed on row 0: it threw null, which is not an Error/],
    [() => undefined, /failed on row 0: it threw undefined, which is not an Error/],
    [() => ({ code: 5 }), /failed on row 0: it threw \{ code: 5 \}, which is not an Error/],
    [
      () =>
        new Proxy(
          {},
          {
            get() {
              throw new Error("a trap");
            },
          },
        ),
      /failed on row 0: it threw \{\}, which is not an Error/,
    ],
  ];
  for (const [make, words] of thrown) {
    const error = await failure(() => {
      throw make();
    });
    expect(error.message).toMatch(words);
  }
});

describe("stacks", () => {
  test("[A14] a stack that is no text, or a prepareStackTrace of the function's own", async () => {
    const odd = await failure(() => {
      throw Object.assign(new Error("odd"), { stack: { not: "a text" } });
    });
    expect(odd.message).toMatch(/Error: odd/);
    const prepared = await failure(function prepared() {
      Error.prepareStackTrace = (_, frames) => frames;
      throw new Error("prepared");
    });
    expect(prepared.message).toMatch(/at prepared \(.*function-errors\.test\.ts:\d+:\d+\)/);
    const again = await failure(function again() {
      Error.prepareStackTrace = () => 42;
      throw new Error("again");
    });
    expect(again.message).toMatch(/Error: again/);
    await failure(() => {
      Object.assign(Error, { prepareStackTrace: undefined });
      throw new Error("as before");
    });
  });

  test("[A14] outer frames of async functions have the user's lines, also of those without a name", async () => {
    const error = await failure(async () => {
      const inner = async () => {
        await null;
        throw new Error("deep");
      };
      const outer = [
        async () => {
          await inner();
        },
      ];
      await Promise.all(outer.map((one) => one()));
    });
    const frames = error.message.split("\n").filter((line) => line.trimStart().startsWith("at "));
    expect(frames.filter((line) => line.includes("function-errors.test.ts")).length).toBeGreaterThanOrEqual(3);
    expect(error.message).not.toContain("spillway=");
    expect(error.message).not.toContain("node:internal");
  });

  test("[A14] an error of Node's own has the line of the user's await", async () => {
    const lines = (error: FunctionError) =>
      error.message.split("\n").filter((line) => line.trimStart().startsWith("at "));
    const missing = await failure(async function readIt() {
      return await readFile("/nowhere/at-all");
    });
    expect(lines(missing)).toEqual([expect.stringMatching(/at async readIt \(.*function-errors\.test\.ts:\d+:\d+\)/)]);
    expect(missing.message).toMatch(/code: 'ENOENT'/);
    const several = await failure(async function readAll() {
      await Promise.all([readFile("/nowhere/at-all")]);
    });
    expect(several.message).toMatch(/at async readAll \(.*function-errors\.test\.ts:\d+:\d+\)/);
    const parsed = await failure(() => JSON.parse("{bad") as unknown);
    expect(lines(parsed).at(-1)).toMatch(/function-errors\.test\.ts:\d+:\d+/);
  });

  test("[A14] a stack has the user's frames only", async () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    const failing = [
      s.range(1).filter(() => boom()),
      s.range(1).map(() => boom()),
      s.range(1).mapBatches(() => boom()),
    ];
    for (const ds of failing as { takeAll(): Promise<unknown> }[]) {
      const error = await ds.takeAll().catch((thrown: Error) => thrown);
      expect(String(error)).toMatch(/ at .*function-errors\.test\.ts/);
      expect(String(error)).not.toMatch(/FilterFunctionStep|Object\.call/);
    }
  });
});

test("[A14] a failure is told once", async () => {
  const failing = s.range(1).flatMap(() => "no rows" as unknown as { id: number }[]);
  const twice = s.range(1).flatMap(async function* () {
    yield 5 as unknown as { id: number };
  });
  for (const run of [failing, twice]) {
    const error = await run.takeAll().then(String, (thrown: Error) => thrown.message);
    expect(error.match(/flatMap failed/g)?.length).toBe(1);
  }
});

describe("what cannot travel says why", () => {
  const bad = s.range(1);
  const other = s.range(3);

  test("[A5] a dataset and a session", () => {
    expect(() => bad.map(async (row) => ({ n: row.id + (await other.count()) }))).toThrow(
      /^map: its function uses "other" \(.*\), which is a Dataset and cannot travel to a worker\. .*Join the two.*takeAll/s,
    );
    expect(() => bad.map(async () => ({ n: await s.range(3).count() }))).toThrow(
      /which is a Session and cannot travel to a worker\. .*outside/s,
    );
    expect(() => bad.groupBy("id").mapGroups(() => ({ n: [bad.groupBy("id") ? 1 : 0] }))).toThrow(/a Dataset/);
  });

  test("[A5] an expression and a promise", () => {
    const one = col("id").add(1);
    expect(() => bad.map(() => ({ n: one ? 1 : 0 }))).toThrow(
      /which is an expression \(col, lit, …\) and cannot travel to a worker\. .*withColumn/,
    );
    const later = Promise.resolve(1);
    expect(() => bad.map(async () => ({ n: await later }))).toThrow(/which is a Promise and .* Await it before/);
  });

  test("[A5] a zod schema", () => {
    const schema = z.object({ id: z.number() });
    expect(() => bad.map((row) => schema.parse(row))).toThrow(
      /^map: its function uses "schema" \(.*\), which is a zod schema and cannot travel to a worker\. Put it into a module/,
    );
  });

  test("[A5] what the error about a zod schema advises works", async () => {
    writeFileSync(
      join(sessions.directory, "rows.mjs"),
      `import { z } from "${import.meta.resolve("zod")}";
       export const Row = z.object({ id: z.number().max(1) });`,
    );
    const run = runScript(
      sessions,
      "zod-schemas",
      `import { range } from "spillway";
       import { z } from "${import.meta.resolve("zod")}";
       import { Row } from "./rows.mjs";
       class Checked {
         #row;
         constructor() { this.#row = z.object({ id: z.number().max(1) }); }
         call(rows) { return rows.map((row) => this.#row.parse(row)); }
       }
       const ways = [(ds) => ds.map((row) => Row.parse(row)), (ds) => ds.mapBatches(Checked, { batchFormat: "rows" })];
       for (const way of ways) {
         console.log((await way(range(2)).takeAll()).length);
         await way(range(3)).takeAll().catch((error) => console.log(/ZodError: .*too_big/s.test(error.message)));
       }`,
    );
    expect(await run.ended).toEqual({ code: 0, output: "2\ntrue\n2\ntrue\n" });
  });

  test("[A5] the function itself is told once, with and without a name", () => {
    const named = new Proxy<(row: { id: number }) => { id: number }>((row) => row, {});
    expect(() => bad.map(named)).toThrow(/^map: its function is a Proxy and cannot travel to a worker\./);
    const socket = new Socket();
    const nameless: () => { n: number } = (() => () => ({ n: 1 }))();
    Object.defineProperty(nameless, "socket", { value: socket, enumerable: true });
    expect(() => bad.map(nameless)).toThrow(/^map: its function uses "\.socket" \(.*\), which/);
    const f = () => String(socket.destroyed);
    expect(() => bad.map(() => ({ n: f() }))).toThrow(/^map: the function "f" uses "socket" \(.*\), which is an inst/);
  });
});

describe("a dead-letter directory", () => {
  test("[A14] that cannot be made is refused when it is given", () => {
    const file = join(sessions.directory, "a-file");
    writeFileSync(file, "");
    const give = (deadLetter: string) => s.range(1).map((row) => row, { onError: { deadLetter } });
    expect(() => give(join(file, "letters"))).toThrow(WriteError);
    expect(() => give(join(file, "letters"))).toThrow(
      `map: onError.deadLetter: ${join(file, "letters")} cannot be made: ${file} is not a directory.`,
    );
    expect(() => give(file)).toThrow(/is not a directory/);
    expect(() => give(join(sessions.directory, "new", "letters"))).not.toThrow();
  });
});
