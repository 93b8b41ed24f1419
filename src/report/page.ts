/** A whole session as one HTML page. The page loads nothing and needs no script. */
import { planFigures, planRows } from "../memory/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";
import { axis } from "./axis.ts";
import { deathsSection } from "./death-cards.ts";
import { figuresOf } from "./figures.ts";
import type { Gathered } from "./gather.ts";
import { lineOf } from "./happened.ts";
import { Html, html } from "./html.ts";
import { findingsSection, jobsSection } from "./jobs.ts";
import { memoryChart } from "./memory-chart.ts";
import { STYLE } from "./style.ts";
import { taskStream } from "./task-stream.ts";

const MOST_LINES = 500;

/** A second defence: even if a value slipped through unescaped, the browser would neither run nor load it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

export interface PageFacts {
  readonly name: string;
  readonly status: "running" | "ended" | "killed";
  /** When the page was made. */
  readonly now: Date;
}

export function pageOf(gathered: Gathered, facts: PageFacts): string {
  const { state, memory } = gathered;
  const time = axis(gathered.since, state.at);
  return `<!doctype html>\n${
    html`<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Spillway session ${facts.name}</title><style>${new Html(STYLE)}</style></head>
<body><header><h1>Session ${facts.name}</h1>${origin(gathered, facts)}</header><main>
${tiles(gathered)}${leftOut(gathered)}
<h2>Findings</h2>${findingsSection(state)}
<h2>Memory over time</h2>${memoryChart(memory, time)}
<h2>Task stream</h2>${taskStream(gathered, time)}
<h2>Deaths and retries</h2>${deathsSection(state)}
<h2>Jobs and operators</h2>${jobsSection(state, facts.status === "running")}
<h2>What happened</h2>${happenedSection(gathered)}
<h2>Settings</h2>${settingsSection(gathered)}
</main></body></html>`.text
  }\n`;
}

function origin({ state: { session } }: Gathered, { status, now }: PageFacts): Html {
  const told = now.toISOString().slice(0, 19).replace("T", " ");
  if (session === null)
    return html`<p class="soft">${status}; its first events are missing. Report of ${told} UTC.</p>`;
  const started = new Date(session.epoch).toISOString().slice(0, 19).replace("T", " ");
  return html`<p class="soft">${status}; started ${started} UTC on ${session.host}; Node ${session.node}; program ${session.program}, supervisor ${session.pid}. Report of ${told} UTC.</p>`;
}

function tiles({ state, node }: Gathered): Html {
  const figures = figuresOf(state);
  const nodePeak = node.reduce((most, [, used]) => Math.max(most, used), 0);
  const tile = (name: string, value: string, isBad = false) =>
    html`<li class="${isBad && "bad"}"><b>${value}</b>${name}</li>`;
  const { memoryDeaths, otherDeaths, failedJobs, oomRetries } = figures;
  return html`<ul class="tiles">${tile("time", formatDuration(figures.duration))}${tile("jobs", String(figures.jobs))}${
    failedJobs > 0 && tile("failed jobs", String(failedJobs), true)
  }${tile("tasks", figures.tasks.toLocaleString("en"))}${tile("rows of results", figures.rowsOut.toLocaleString("en"))}${tile(
    "peak memory of the session",
    formatSize(figures.peakMemory),
  )}${nodePeak > 0 && tile("peak memory of the node", formatSize(nodePeak))}${tile("spilled", formatSize(figures.spilledBytes))}${tile(
    "restored",
    formatSize(figures.restoredBytes),
  )}${tile("workers that died of memory", String(memoryDeaths), memoryDeaths > 0)}${
    otherDeaths > 0 && tile("workers that died otherwise", String(otherDeaths), true)
  }${oomRetries > 0 && tile("retries with less at once", String(oomRetries), true)}</ul>`;
}

function leftOut({ since, torn, state }: Gathered): Html | null {
  const parts = [
    ...(since > 0
      ? [`before ${formatDuration(since)} only totals were kept (eventFileLimit): the drawings begin there`]
      : []),
    ...(torn > 0 ? [`${torn} lines of the event file could not be read`] : []),
    ...(state.happenedBefore > 0 ? [`${state.happenedBefore} earlier kills, retries and notices are not kept`] : []),
  ];
  return parts.length === 0 ? null : html`<p class="left">Left out: ${parts.join("; ")}.</p>`;
}

function happenedSection({ state }: Gathered): Html {
  const lines = state.happened.flatMap((event) => {
    const line = lineOf(event);
    return line === null ? [] : [{ ...line, at: event.at }];
  });
  if (lines.length === 0) return html`<p class="empty">No notice, no retry, no death.</p>`;
  const shown = lines.slice(-MOST_LINES);
  const left = lines.length - shown.length;
  return html`${left > 0 && html`<p class="left">${left} earlier lines are left out.</p>`}<table><tbody>${shown.map(
    ({ at, severity, text }) =>
      html`<tr><td class="n">${formatDuration(at)}</td><td class="${severity === "error" && "error"}">${text}</td></tr>`,
  )}</tbody></table>`;
}

function settingsSection({ state: { session } }: Gathered): Html {
  if (session === null) return html`<p class="empty">Not known: the first events are missing.</p>`;
  const rows = [...session.settings].sort((a, b) => Number(a.from === "default") - Number(b.from === "default"));
  return html`<table><thead><tr><th>memory plan</th><th></th></tr></thead><tbody>${planRows(planFigures(session)).map(
    ([name, value]) => html`<tr><td>${name}</td><td>${value}</td></tr>`,
  )}</tbody></table>
<table><thead><tr><th>setting</th><th>value</th><th>from</th></tr></thead><tbody>${rows.map(
    ({ path, value, from }) =>
      html`<tr><td>${path}</td><td>${value}</td><td class="${from === "default" && "soft"}">${from}</td></tr>`,
  )}</tbody></table>`;
}
