/** The jobs in examples/jobs: each runs as it stands, and gives what plain code over the same data gives. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { root } from "../support/tools.ts";

const home = temporaryDirectory("examples");
const s = testSessions("examples").open({ workers: 1 });

function start(name: string, ...args: string[]): ChildProcess {
  const program = ["--import", import.meta.resolve("tsx"), join(root, "examples/jobs", `${name}.ts`), ...args];
  return spawn(process.execPath, program, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_STATE_HOME: join(home, "state"), SPILLWAY_PROGRESS: "false" },
  });
}

async function run(name: string, ...args: string[]): Promise<unknown> {
  const child = start(name, ...args);
  const [printed] = await Promise.all([child.stdout === null ? "" : text(child.stdout), once(child, "close")]);
  return JSON.parse(printed);
}

test("[A1] access logs", async () => {
  const lines = Array.from({ length: 500 }, (_, i) => ({
    path: `/p${i % 7}`,
    status: i % 11 === 0 ? 500 : 200,
    bytes: i,
  }));
  const line = ({ path, status, bytes }: (typeof lines)[number]) =>
    `10.0.0.1 - - [01/Jan/2024:00:00:00 +0000] "GET ${path} HTTP/1.1" ${status} ${bytes === 0 ? "-" : bytes} "-" "x"`;
  writeFileSync(join(home, "a.log"), `${lines.slice(0, 300).map(line).join("\n")}\nnot a request\n`);
  writeFileSync(join(home, "b.log"), `${lines.slice(300).map(line).join("\n")}\n`);
  const expected = Array.from({ length: 7 }, (_, p) => {
    const own = lines.filter(({ path }) => path === `/p${p}`);
    const sum = (of: (one: (typeof lines)[number]) => number) => own.reduce((total, one) => total + of(one), 0);
    return {
      path: `/p${p}`,
      requests: own.length,
      bytes: sum((one) => one.bytes),
      errors: sum((one) => Number(one.status >= 400)),
    };
  });
  expect(await run("access-logs", join(home, "a.log"), join(home, "b.log"))).toEqual(expected);
});

test("[A4] an HTTP API per row", async () => {
  const server = createServer((request, response) => {
    const id = Number(new URL(request.url ?? "", "http://x").searchParams.get("id"));
    response.end(JSON.stringify({ price: id * 1.5 }));
  }).listen(0);
  await once(server, "listening");
  try {
    const prices = await run("http-per-row", `http://localhost:${(server.address() as AddressInfo).port}/price`);
    expect(prices).toEqual(Array.from({ length: 200 }, (_, id) => ({ id, price: id * 1.5 })));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("[A2] thumbnails", async () => {
  mkdirSync(join(home, "pictures"));
  const grey = (value: number) => Buffer.concat([Buffer.from("P6\n4 2\n255\n"), Buffer.alloc(24, value)]);
  for (let i = 0; i < 20; i++) writeFileSync(join(home, "pictures", `${i}.ppm`), grey(i * 10));
  expect(await run("thumbnails", join(home, "pictures"), join(home, "thumbnails"))).toEqual({ pictures: 20 });
  const made = await s.readParquet(join(home, "thumbnails")).takeAll();
  expect(new Map(made.map((row) => [row.name, [row.width, row.height, ...row.pixels]]))).toEqual(
    new Map(Array.from({ length: 20 }, (_, i) => [`${i}.ppm`, [2, 1, ...Array(6).fill(i * 10)]])),
  );
});

test("[A2] embeddings", async () => {
  const texts = ["red apples and pears", "the train to the north", "apples", "blue sky", "pears are red"];
  writeFileSync(
    join(home, "texts.ndjson"),
    texts.map((line, id) => `${JSON.stringify({ id, text: line })}\n`).join(""),
  );
  const rows = (await run("embeddings", join(home, "texts.ndjson"), "red pears")) as { id: number; score: number }[];
  expect(rows.map(({ id }) => id).slice(0, 2)).toEqual([4, 0]);
  expect(rows[0]?.score).toBeCloseTo(2 / Math.sqrt(2 * 3), 10);
});

test("[A1] messy CSV", async () => {
  const lines = [
    "day,shop,amount",
    '2024-01-02, North ,"€1,200.50"',
    "03.01.2024,north,$10",
    "soon,North,5",
    "2024-02-01,,7",
    "2024-02-01,South,",
  ];
  writeFileSync(join(home, "sales.csv"), `${lines.join("\n")}\n`);
  expect(await run("messy-csv", join(home, "sales.csv"))).toEqual([
    { shop: "north", month: "2024-01", sales: 2, total: 1210.5 },
    { shop: "north", month: "bad", sales: 1, total: 0 },
    { shop: "south", month: "bad", sales: 1, total: 0 },
    { shop: "unknown", month: "2024-02", sales: 1, total: 7 },
  ]);
});

test("[A10] a training loop", async () => {
  const points = Array.from({ length: 1000 }, (_, i) => ({ x: i / 1000, y: 3 * (i / 1000) + 2 }));
  await s.fromItems(points).writeParquet(join(home, "points"));
  const first = (await run("training", join(home, "points"))) as { slope: number; offset: number };
  expect(first.slope).toBeCloseTo(3, 1);
  expect(first.offset).toBeCloseTo(2, 1);
  expect(await run("training", join(home, "points"))).toEqual(first);
});

test("[A1] a web server", async () => {
  await s
    .range(100)
    .map((row) => ({ k: row.id % 3, v: row.id }))
    .writeParquet(join(home, "served"));
  const child = start("web-server", join(home, "served"));
  try {
    const [port] = await once(child.stdout ?? child, "data");
    const ask = async (above: number) =>
      (await fetch(`http://localhost:${String(port).trim()}/totals?above=${above}`)).json();
    const answers = await Promise.all([10, 50, 98].map(ask));
    for (const [i, above] of [10, 50, 98].entries()) {
      const expected = [0, 1, 2].map((k) =>
        Array.from({ length: 100 }, (_, v) => v).filter((v) => v % 3 === k && v > above),
      );
      expect(answers[i]).toEqual(
        expected.flatMap((own, k) =>
          own.length === 0 ? [] : [{ k, rows: own.length, total: own.reduce((a, b) => a + b) }],
        ),
      );
    }
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
});
