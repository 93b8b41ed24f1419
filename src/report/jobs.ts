/** Jobs and their operators as tables. */
import { diagnoseStats } from "../diagnose/index.ts";
import { type JobView, jobStats, type OperatorTotals, type SessionState } from "../events/index.ts";
import { type Finding, type OperatorStats, policyWords } from "../protocol/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";
import { type Html, html } from "./html.ts";
import { planGraph } from "./plan.ts";
import { shortened } from "./shortened.ts";

/** The newest jobs and the failed ones matter most: a pipeline runs one job per window. */
const MOST_JOBS = 60;
const MOST_OPERATORS = 300;

/** Findings of each job, with remedies. */
export function findingsSection(state: SessionState): Html {
  const found = [...state.jobs.values()].map((job) => ({ job, findings: diagnoseStats(jobStats(state, job)) }));
  const telling = found.filter(({ findings }) => findings.length > 0);
  if (telling.length === 0) return html`<p class="empty">Nothing stands out.</p>`;
  const left = Math.max(0, telling.length - MOST_JOBS);
  return html`${left > 0 && html`<p class="left">Findings of ${left} earlier jobs are left out.</p>`}${telling
    .slice(-MOST_JOBS)
    .map(({ job, findings }) => findings.map((finding) => findingCard(job, finding)))}`;
}

function findingCard({ id }: JobView, { text, severity, remedies }: Finding): Html {
  const steps = html`<ol>${remedies.map((remedy) => html`<li>${remedy}</li>`)}</ol>`;
  return html`<section class="card finding"><p><b>${severity}</b>, job ${id}: ${text}</p>${remedies.length > 0 && steps}</section>`;
}

/** `isRunning`: the session runs. Jobs of another session that have not ended were cut off with it. */
export function jobsSection(state: SessionState, isRunning: boolean): Html {
  const jobs = [...state.jobs.values()];
  if (jobs.length === 0) return html`<p class="empty">No job has been started.</p>`;
  const failed = jobs.filter(({ outcome }) => outcome === "failed");
  const kept = new Set([...failed.slice(-MOST_JOBS / 2), ...jobs.slice(-MOST_JOBS / 2)]);
  const shown = jobs.filter((job) => jobs.length <= MOST_JOBS || kept.has(job));
  const left = jobs.length - shown.length + state.jobsBefore;
  const note = html`<p class="left">${left} earlier jobs are left out; the totals above have them.</p>`;
  return html`${left > 0 && note}${shown.map((job) => jobPart(state, job, isRunning ? "running" : "cut off"))}`;
}

function jobPart(state: SessionState, job: JobView, unended: string): Html {
  const { id, startedAt, endedAt, outcome, error, rows, rowsDelivered, operators } = job;
  const { seconds, operators: stats } = jobStats(state, job);
  const took = `${formatDuration(seconds * 1000)}${endedAt === null ? " so far" : ""}`;
  const shown = operators.slice(0, MOST_OPERATORS);
  const left = operators.length - shown.length;
  return html`<h3>Job ${id}: ${outcome ?? unended}</h3>
<p class="soft">${took}, ${(rows ?? rowsDelivered).toLocaleString("en")} rows, from ${formatDuration(startedAt)} on</p>
${error !== null && html`<p class="error">${error.name}: ${shortened(error.message)}</p>`}${planGraph(job, stats)}
<div class="scroll"><table><thead><tr><th>operator</th><th class="n">tasks</th><th class="n">rows in</th><th class="n">rows out</th>
<th class="n">bytes out</th><th class="n">time</th><th class="n">CPU</th><th class="n">longest task</th><th class="n">peak memory</th><th>delays and failures</th></tr></thead>
<tbody>${shown.map((totals, index) => operatorRow(totals, stats[index]))}</tbody></table></div>${left > 0 && html`<p class="left">${left} more operators are left out.</p>`}`;
}

function operatorRow(totals: OperatorTotals, stats: OperatorStats | undefined): Html | null {
  if (stats === undefined) return null;
  const { name, tasksDone, rowsIn, rowsOut, bytesOut, wall, cpu, peakMemory, share } = stats;
  const part = totals.ended || share === null ? "" : `, ${Math.floor(share * 100)} % of the work`;
  const tasks = tasksDone === stats.tasks ? `${tasksDone}${part}` : `${tasksDone} of ${stats.tasks}${part}`;
  return html`<tr><td class="name">${name}${recipe(totals)}</td><td class="n">${tasks}</td><td class="n">${count(rowsIn)}</td><td class="n">${count(rowsOut.total)}</td>
<td class="n">${formatSize(bytesOut.total)}</td><td class="n">${formatDuration(wall.total)}</td><td class="n">${formatDuration(cpu.total)}</td>
<td class="n">${formatDuration(wall.max)}</td><td class="n">${formatSize(peakMemory)}</td><td>${troubles(totals, stats).join("; ")}</td></tr>`;
}

/** What its tasks do. */
function recipe({ plan: { recipe } }: OperatorTotals): Html | null {
  if (recipe === null || (recipe.functions.length === 0 && recipe.sql.length === 0)) return null;
  const { functions, sql, files, concurrency, batchSize } = recipe;
  const facts = [
    ...(functions.length > 0 ? [`functions: ${functions.join(", ")}`] : []),
    ...(files > 0 ? [`${files} files`] : []),
    ...(batchSize === null ? [] : [`batches of ${batchSize} rows`]),
    `${concurrency} at once`,
  ];
  return html`<details><summary class="soft">what it does</summary>${facts.join("; ")}${sql.length > 0 && html`<pre>${sql.join("\n")}</pre>`}</details>`;
}

/** What delayed the operator: backpressure, failures, retries and dropped rows. */
function troubles({ failed }: OperatorTotals, { heldBack, retries, oomRetries, errored }: OperatorStats): string[] {
  const held = Object.entries(heldBack)
    .filter(([, seconds]) => seconds >= 0.001)
    .map(([policy, seconds]) => `held back by ${policyWords(policy)} for ${formatDuration(seconds * 1000)}`);
  return [
    ...held,
    ...(failed > 0 ? [`${failed} tasks failed`] : []),
    ...(retries > 0 ? [`${retries} retries after crashes`] : []),
    ...(oomRetries > 0 ? [`${oomRetries} retries with less at once`] : []),
    ...(errored > 0 ? [`${count(errored)} rows dropped (onError)`] : []),
  ];
}

function count(value: number): string {
  return value.toLocaleString("en");
}
