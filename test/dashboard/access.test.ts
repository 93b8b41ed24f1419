/** Who may see the dashboard: whoever has its link, from this machine's own address. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { asSecondUser, noSecondUser } from "../support/second-user.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";
import { ask, Page } from "./page.ts";

const sessions = testSessions("dashboard-access");
const withSecondUser = requires("a second user", noSecondUser);
let url = "";
let page: Page;

beforeAll(async () => {
  const s = sessions.open({ workers: 1, workerEnv: { API_KEY: "hunter2" } });
  await s
    .range(10)
    .map((row) => ({ id: row.id }))
    .takeAll();
  url = s.dashboardUrl ?? "";
  page = await Page.open(url);
});

const at = (path: string) => new URL(path, url);

describe("a token", () => {
  test("[W1] is asked for everywhere but at /health, on loopback too", async () => {
    for (const path of ["/", "/api/stream", "/api/blocks", "/api/logs", "/metrics", "/memory", "/nothing"]) {
      expect(await ask(at(path)), path).toMatchObject({ status: 401, text: expect.stringContaining("token") });
    }
    expect((await ask(at("/?token=00000000000000000000000000000000"))).status).toBe(401);
    expect((await ask(at("/"), { authorization: "Bearer guess" })).status).toBe(401);
    expect((await ask(at("/"), { cookie: `spillway-${at("/").port}=guess` })).status).toBe(401);
    const health = await ask(at("/health"));
    expect(health).toMatchObject({ status: 200, text: '{"status":"running"}' });
  });

  test("[W1] of a link becomes a cookie that no script reads and no other site sends", async () => {
    const { status, headers } = await ask(`${url}&from=1`, {}, { path: `/api/tasks${at(url).search}&from=1` });
    expect(status).toBe(303);
    expect(headers.location).toBe("/api/tasks?from=1");
    const { port, searchParams } = new URL(url);
    expect(headers["set-cookie"]).toEqual([
      `spillway-${port}=${searchParams.get("token")}; HttpOnly; SameSite=Strict; Path=/`,
    ]);
    expect((await page.ask("/api/tasks?from=1")).status).toBe(200);
    const bearer = { authorization: `Bearer ${searchParams.get("token")}` };
    expect((await ask(at("/api/blocks"), bearer)).status).toBe(200);
  });

  test("[W1] of the dashboard does not open the session's socket", async () => {
    const [name = ""] = sessionNames(sessions.stateDirectory);
    const token = new URL(url).searchParams.get("token");
    const socket = connect(join(sessions.localDirectory, `spillway-${process.geteuid?.()}`, name, "supervisor.sock"));
    const greeting = Buffer.from(JSON.stringify({ type: "observe", token }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(greeting.length);
    socket.write(Buffer.concat([length, greeting]));
    let answered = 0;
    socket.on("data", (piece) => {
      answered += piece.length;
    });
    await once(socket, "close");
    expect(answered).toBe(0);
  });
});

describe("a request", () => {
  test("[W1] to another name than this machine's own is refused: a web page could point its name here", async () => {
    const { port } = new URL(url);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost:80:80"]) {
      const { status } = await page.ask("/api/blocks", { host });
      expect([400, 421], host).toContain(status);
    }
    // As through ssh -L 9000:localhost:8787.
    for (const host of ["localhost:9000", "127.0.0.1:9000", "[::1]:9000", "LOCALHOST"]) {
      expect((await page.ask("/api/blocks", { host })).status, host).toBe(200);
    }
  });

  test("[W1] that would change something comes from the dashboard's own pages, with JSON", async () => {
    const json = { "content-type": "application/json" };
    const post = (headers: Record<string, string>) => page.ask("/api/profiles", headers, "POST", "{}");
    expect((await post({ ...json, origin: "http://evil.example" })).status).toBe(403);
    expect((await post({ ...json, origin: "null" })).status).toBe(403);
    expect((await post({ ...json, "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await post({ "content-type": "text/plain" })).status).toBe(415);
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
      expect((await page.ask("/api/profiles", json, method)).status, method).toBe(405);
    }
  });

  test("[W1] leads to no file but those in the lists, however it is written", async () => {
    const paths = [
      "/api/logs/..%2f..%2f..%2fetc%2fpasswd",
      "/api/logs/attach.json",
      "/api/logs/events.jsonl/download",
      "/api/logs/%00",
      "/..%2f..%2fpackage.json",
      "/../../package.json",
      "/assets/..%2f..%2fmain.js",
      "//evil.example/%2e%2e",
      "/\\evil.example",
      "/%",
    ];
    for (const path of paths) {
      const { port } = new URL(url);
      const headers = { cookie: `spillway-${port}=${new URL(url).searchParams.get("token")}` };
      const { status, text, headers: answer } = await ask(url, headers, { path });
      expect(text, path).not.toMatch(/root:|"token"|"name": "spillway"/);
      expect(answer.location, path).toBe(undefined);
      expect([200, 400, 404], `${path}: ${text.slice(0, 100)}`).toContain(status);
    }
  });

  test("[W1] is answered with headers that let nothing foreign in and nothing out", async () => {
    for (const path of ["/", "/api/blocks", "/health", "/nothing.js"]) {
      const { headers } = await page.ask(path);
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
      expect(headers["access-control-allow-origin"]).toBe(undefined);
    }
  });

  test("[W1] may not have headers without end, nor may a connection stay open without a request", async () => {
    expect((await page.ask("/api/blocks", { "x-long": "x".repeat(20_000) })).status).toBe(431);
    const { port } = new URL(url);
    const silent = connect(Number(port), "127.0.0.1");
    silent.on("error", () => {});
    silent.write("GET / HTTP/1.1\r\nHost: localhost\r\n");
    silent.resume();
    await once(silent, "close");
  }, 60_000);
});

test("[W1] values of the workers' variables are not shown", async () => {
  const { text } = await page.ask("/api/settings");
  expect(text).toContain("API_KEY");
  const everything = [text, (await page.ask("/")).text];
  expect(everything.join()).not.toContain("hunter2");
});

withSecondUser.test("[W1] another user of the machine sees nothing of it but whether it runs", async () => {
  const [name = ""] = sessionNames(sessions.stateDirectory);
  const attachment = join(sessions.stateDirectory, name, "attach.json");
  expect(existsSync(attachment)).toBe(true);
  const seen = await asSecondUser(
    `import { readdirSync, readFileSync } from "node:fs";
     const [base, attachment] = process.argv.slice(1);
     const tried = [];
     for (const path of ["/", "/api/stream", "/api/logs", "/metrics", "/health"]) {
       tried.push((await fetch(base + path)).status);
     }
     try { readFileSync(attachment); tried.push("read"); } catch (error) { tried.push(error.code); }
     const lines = readdirSync("/proc").filter((pid) => /^\\d+$/.test(pid)).map((pid) => {
       try { return readFileSync("/proc/" + pid + "/cmdline", "latin1"); } catch { return ""; }
     });
     console.log(JSON.stringify({ tried, lines: lines.filter((line) => line.includes("dashboard/main")) }));`,
    new URL(url).origin,
    attachment,
  );
  const { tried, lines } = JSON.parse(seen);
  expect(tried).toEqual([401, 401, 401, 401, 200, "EACCES"]);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join()).not.toContain(new URL(url).searchParams.get("token"));
});

test("[W1] the pages are whole in the package: browsers keep what has a hash in its name, and ask for the rest", async () => {
  const index = await page.ask("/");
  expect(index.headers).toMatchObject({ "cache-control": "no-cache", "content-type": "text/html; charset=utf-8" });
  expect(index.text).not.toMatch(/(src|href)="(https?:)?\/\//);
  const [, script = ""] = /src="\.?(\/assets\/[^"]+\.js)"/.exec(index.text) ?? [];
  const code = await page.ask(script);
  expect(code.headers).toMatchObject({ "cache-control": "private, max-age=31536000, immutable" });
  expect(code.headers["content-type"]).toMatch(/^text\/javascript/);
  const packed = await page.ask(script, { "accept-encoding": "br, gzip" });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(Number(packed.headers["content-length"])).toBeLessThan(Number(code.headers["content-length"]) / 2);
  expect((await page.ask(script, { "if-none-match": String(code.headers.etag) })).status).toBe(304);
  expect((await page.ask("/assets/none.js")).status).toBe(404);
});
