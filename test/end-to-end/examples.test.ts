/** The jobs in examples/jobs: each runs as it stands, and gives what plain code over the same data gives. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
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

test("[A16] sessions of users, over many files with events that came twice", async () => {
  mkdirSync(join(home, "events"));
  const start = Date.UTC(2024, 0, 1);
  const minutes = (user: number, i: number) => (i * 7 * (user + 1) + (i % 5 === 0 ? i * 40 : 0)) % 1440;
  const events = Array.from({ length: 600 }, (_, i) => {
    const at = new Date(start + minutes(i % 6, i) * 60_000).toISOString();
    return { id: `e${i}`, user: `u${i % 6}`, at, page: `/p${i % 4}` };
  });
  for (let file = 0; file < 12; file++) {
    // Each file has the last events of the previous one again.
    const own = events.slice(Math.max(0, file * 50 - 10), file * 50 + 50);
    writeFileSync(join(home, "events", `${file}.ndjson`), own.map((one) => `${JSON.stringify(one)}\n`).join(""));
  }
  const expected = Array.from({ length: 6 }, (_, u) => {
    const own = events.filter(({ user }) => user === `u${u}`).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
    const sessions: (typeof own)[] = [];
    for (const event of own) {
      const last = sessions.at(-1);
      const silence = Date.parse(event.at) - Date.parse(last?.at(-1)?.at ?? "1970-01-01");
      if (last === undefined || silence > 30 * 60_000) sessions.push([event]);
      else last.push(event);
    }
    return {
      user: `u${u}`,
      sessions: sessions.length,
      events: own.length,
      bounced: sessions.filter(({ length }) => length === 1).length,
      longest: Math.max(...sessions.map((session) => new Set(session.map(({ page }) => page)).size)),
    };
  });
  expect(await run("sessions", ...Array.from({ length: 12 }, (_, i) => join(home, "events", `${i}.ndjson`)))).toEqual(
    expected,
  );
});

test("[A11] ETL from packed lines of JSON to Parquet by day, with dead letters", async () => {
  mkdirSync(join(home, "raw"));
  const orders = Array.from({ length: 300 }, (_, id) => ({
    id,
    placed: id % 50 === 7 ? "soon" : `2024-03-${String(1 + (id % 3)).padStart(2, "0")}T10:00:00Z`,
    country: id % 4 === 0 ? null : ["nl", "DE"][id % 2],
    lines: id % 70 === 3 ? [] : [{ sku: `s${id}`, price: 19.99, quantity: 1 + (id % 3) }],
  }));
  for (let file = 0; file < 3; file++) {
    const lines = orders.slice(file * 100, file * 100 + 100).map((one) => `${JSON.stringify(one)}\n`);
    writeFileSync(join(home, "raw", `${file}.ndjson.gz`), gzipSync(lines.join("")));
  }
  const good = orders.filter(({ placed, lines }) => placed !== "soon" && lines.length > 0);
  const [raw, out, bad] = ["raw", "orders", "bad"].map((name) => join(home, name));
  const keys = good.map((one) => `${one.placed.slice(0, 10)} ${(one.country ?? "unknown").toUpperCase()}`);
  const days = [...new Set(keys)].sort().map((key) => {
    const [day = "", country] = key.split(" ");
    return { day: new Date(day).toISOString(), country, orders: keys.filter((other) => other === key).length };
  });
  const { days: told, errors } = (await run("etl", raw ?? "", out ?? "", bad ?? "")) as {
    days: unknown;
    errors: { error: string }[];
  };
  expect(told).toEqual(days);
  expect(errors.length).toBe(orders.length - good.length);
  expect(errors.map(({ error }) => error).join("\n")).toMatch(/order 3 has no lines[\s\S]*order 7 was placed at soon/);
  const cents = await s
    .readParquet<{ id: number; cents: number }>(out ?? "")
    .select("id", "cents")
    .takeAll();
  expect(new Map(cents.map((row) => [row.id, row.cents]))).toEqual(
    new Map(good.map(({ id }) => [id, 1999 * (1 + (id % 3))])),
  );
});

test("[A4] scores from a service that fails now and then, for a table with a reference table", async () => {
  const reviews = Array.from({ length: 400 }, (_, i) => ({ product: `p${i % 9}`, text: `${i} ${"x".repeat(i % 30)}` }));
  await s.fromItems(reviews).writeParquet(join(home, "reviews"));
  const titles = Array.from({ length: 8 }, (_, i) => `p${i},"Title, ${"y".repeat(i)}"`);
  writeFileSync(join(home, "products.csv"), `product,title\n${titles.join("\n")}\n`);
  const asked = new Set<string>();
  let failures = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isNew = !asked.has(body);
    asked.add(body);
    // Every third batch fails at first.
    if (isNew && asked.size % 3 === 0) {
      failures++;
      response.writeHead(503).end();
    } else response.end(JSON.stringify((JSON.parse(body) as string[]).map(({ length }) => length)));
  }).listen(0);
  await once(server, "listening");
  try {
    const url = `http://localhost:${(server.address() as AddressInfo).port}/score`;
    const scores = await run("scoring", join(home, "reviews"), join(home, "products.csv"), url);
    const expected = Array.from({ length: 8 }, (_, p) => {
      const own = reviews.filter(({ product }) => product === `p${p}`);
      const lengths = own.map((review) => `Title, ${"y".repeat(p)}: ${review.text}`.length);
      return { product: `p${p}`, reviews: own.length, score: lengths.reduce((a, b) => a + b) / own.length };
    });
    expect((scores as typeof expected).map(({ product, reviews: n }) => [product, n])).toEqual(
      expected.map(({ product, reviews: n }) => [product, n]),
    );
    for (const [i, { score }] of (scores as typeof expected).entries())
      expect(score).toBeCloseTo(expected[i]?.score ?? 0, 9);
    expect(failures).toBeGreaterThan(3);
  } finally {
    server.closeAllConnections();
    server.close();
  }
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
