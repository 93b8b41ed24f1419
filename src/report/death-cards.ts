/** A card for each worker death and each retry after running out of memory, with memory curves and remedies. */
import type { SessionState } from "../events/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";
import { type Death, deathsOf, type Gone, headOf } from "./deaths.ts";
import { type Html, html } from "./html.ts";
import { curveChart } from "./memory-chart.ts";

const MOST_CARDS = 100;

export function deathsSection(state: SessionState): Html {
  const deaths = deathsOf(state);
  if (deaths.length === 0) return html`<p class="empty">No worker died, and no task ran out of memory.</p>`;
  const shown = deaths.slice(-MOST_CARDS);
  const left = deaths.length - shown.length + (state.happenedBefore > 0 ? 1 : 0);
  return html`${left > 0 && html`<p class="left">Earlier ones are left out: the newest ${shown.length} are shown.</p>`}${shown.map(card)}`;
}

function card(death: Death): Html {
  const { number, at, gone, shortage, operator, task, files, attempts, remedies } = death;
  return html`<section class="card"><h3>${number}. At ${formatDuration(at)}: ${headOf(death)}</h3>
${task !== null && html`<p>Task <code>${task}</code>${operator !== null && html` of <b>${operator}</b>`}</p>`}${
  files.length > 0 && html`<p>It read ${files.map((file) => html`<code class="key">${file}</code>`)}</p>`
}${gone !== null && moment(gone)}${
  shortage !== null &&
  html`<p>Its worker had ${shortage.memory === null ? "not been measured" : `${formatSize(shortage.memory)} at most`}${shortage.limit !== null && html`, with a limit of ${formatSize(shortage.limit)}`}.</p>`
}${
  attempts.length > 0 &&
  html`<p>What each attempt asked for:</p><ol>${attempts.map(({ text, endedAt }) => html`<li>${text}${endedAt !== null && html` <span class="soft">(${formatDuration(endedAt)})</span>`}</li>`)}</ol>`
}${
  remedies.length > 0 &&
  html`<p>What to do, the smallest change first:</p><ol>${remedies.map((remedy) => html`<li>${remedy}</li>`)}</ol>`
}</section>`;
}

function moment(gone: Gone): Html {
  const { endedFor, limit, curve, nodeCurve, node, beside, log, exitCode, signal } = gone;
  const end = signal ?? (exitCode === null ? null : `code ${exitCode}`);
  return html`${endedFor !== null && html`<p>Why it was chosen: ${endedFor}.</p>`}${end !== null && html`<p class="soft">Its process ended with ${end}.</p>`}
<div>${curveChart(curve, limit, "Its own memory")}${curveChart(nodeCurve, limitOf(node), "Used on the node")}</div>${
    node !== null &&
    html`<p>The node ${node.host}: ${formatSize(node.used)} of ${formatSize(node.total)} in use${node.threshold !== null && html`, threshold ${node.threshold}`}.</p>
<details><summary>The ${node.users.length} that used the most</summary><table><tbody>${node.users.map(
      (user) =>
        html`<tr><td>${user.name}</td><td class="n">${formatSize(user.private)}</td><td class="n soft">${user.pid}</td></tr>`,
    )}</tbody></table></details>`
  }${
    beside.length > 0 &&
    html`<p>Beside it ran: ${beside.map(({ worker, operator, private: own }) => html`<span class="key">${operator} (worker ${worker}${own !== null && `, ${formatSize(own)}`})</span>`)}</p>`
  }<p class="soft">Log: <code>${log}</code></p>`;
}

function limitOf(node: Gone["node"]): number | null {
  return node === null || node.threshold === null ? null : node.threshold * node.total;
}
