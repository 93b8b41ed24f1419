/** Metrics of real jobs, and the Grafana dashboard that shows them. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { METRICS } from "../../src/dashboard/metrics/index.ts";
import { testSessions } from "../support/sessions.ts";
import { ask, Page } from "./page.ts";

const sessions = testSessions("dashboard-metrics");

/** By name with labels, as they are written. */
function parsed(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

test("[W3] /metrics tells rows, tasks, memory and spilled bytes by Prometheus' conventions", async () => {
  const s = sessions.open({ workers: 1, objectStoreMemory: "1 MiB" });
  const kept = await s
    .range(100_000)
    .map(function padded(row) {
      return { id: row.id, text: String(row.id).padStart(40) };
    })
    .materialize();
  const url = new URL(s.dashboardUrl ?? "");
  const token = url.searchParams.get("token");
  const page = await Page.open(url.href);
  const read = async () => parsed((await page.ask("/metrics")).text);
  await expect.poll(async () => (await read()).get('spillway_jobs_ended_total{outcome="finished"}')).toBe(1);
  const metrics = await read();
  const operator = [...metrics.keys()].find((key) => key.startsWith("spillway_rows_total"));
  expect(operator).toContain("map(padded)");
  expect(metrics.get(operator ?? "")).toBe(100_000);
  expect(metrics.get("spillway_session_running")).toBe(1);
  expect(metrics.get("spillway_spilled_bytes_total")).toBeGreaterThan(2 ** 20);
  expect(metrics.get("spillway_store_capacity_bytes")).toBe(2 ** 20);
  const kind = (name: string) => metrics.get(`spillway_memory_bytes{kind="${name}"}`) ?? Number.NaN;
  expect(kind("managed") + kind("unmanaged") + kind("recent")).toBe(kind("process"));
  // Prometheus sends either of these, and no cookie.
  const bearer = await ask(new URL("/metrics", url), { authorization: `Bearer ${token}` });
  const parameter = await ask(new URL(`/metrics?token=${token}`, url));
  for (const { status, headers } of [bearer, parameter]) {
    expect(status).toBe(200);
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
  }
  // Each has a help and a type, base units, and counters end in _total.
  for (const { name } of METRICS) {
    const type = name.endsWith("_total") ? "counter" : "gauge";
    expect(bearer.text).toContain(`# TYPE ${name} ${type}\n`);
    expect(name).not.toMatch(/_(ms|milliseconds|mib|mb|count)(_|$)/);
  }
  // Counters never go back.
  expect(await kept.count()).toBe(100_000);
  const later = await read();
  for (const [name, value] of metrics)
    if (/_total(\{|$)/.test(name)) expect(later.get(name)).toBeGreaterThanOrEqual(value);
  await s.close();
});

test("[W3] docs/metrics.md lists every metric with its labels", () => {
  const page = readFileSync(fileURLToPath(new URL("../../docs/metrics.md", import.meta.url)), "utf8");
  const rows = [...page.matchAll(/^\| `(spillway_\w+)` +\| (.*?) *\| (.*?) *\|$/gm)].map(([, ...cells]) => cells);
  expect(rows).toEqual(METRICS.map(({ name, labels, help }) => [name, labels.join(", "), help]));
});

test("[W3] every metric of the Grafana dashboard exists, with its labels", () => {
  const path = fileURLToPath(new URL("../../assets/grafana-dashboard.json", import.meta.url));
  const { panels }: { panels: { title: string; targets: { expr: string; legendFormat: string }[] }[] } = JSON.parse(
    readFileSync(path, "utf8"),
  );
  const labels = new Map<string, readonly string[]>(METRICS.map((metric) => [metric.name, metric.labels]));
  for (const { title, targets } of panels) {
    for (const { expr, legendFormat } of targets) {
      const [name = "", ...more] = expr.match(/spillway_\w+/g) ?? [];
      expect(more, title).toEqual([]);
      expect(labels.has(name), `${title}: ${name}`).toBe(true);
      const used = [...expr.matchAll(/[{,](\w+)=~?"/g), ...legendFormat.matchAll(/\{\{(\w+)\}\}/g)];
      for (const [, label = ""] of used) expect(["instance", ...(labels.get(name) ?? [])], title).toContain(label);
      if (name.endsWith("_total"))
        expect(expr.includes("rate(") || expr.includes("increase(") || title === "Deaths for memory").toBe(true);
    }
  }
});
