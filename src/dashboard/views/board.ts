/**
 * What all pages show live, as JSON entries by key. Twice a second the board is made anew and compared with the last
 * one; every page gets the same patch. For series and lines, which only grow, a patch has just the new part.
 */
import { type JobView, sharesOf } from "../../events/index.ts";
import type { Milliseconds, WorkerId } from "../../protocol/index.ts";
import type { Happened, SeriesName } from "../api.ts";
import { type PointSeries, type SessionModel, shownJobs } from "../model/index.ts";
import {
  descriptorsOf,
  jobCard,
  operatorNow,
  type Place,
  sessionCard,
  timeUnderWay,
  totalsCard,
  workerCard,
} from "./cards.ts";
import { happenedLine } from "./happened.ts";

const MOST_LINES = 1_000;
/** Operators with a curve in the chart of their memory. */
const MOST_OPERATORS = 12;
/** After the last event, rates reach zero within this time. */
const SETTLES: Milliseconds = 10_000;
/** How many workers to look at per update: counting a process's descriptors takes 0.1 ms. */
const COUNTED = 8;

interface Sent {
  /** When it changes, the whole series is sent again. */
  readonly epoch: string;
  readonly length: number;
}

interface JobTexts {
  readonly isOver: boolean;
  readonly texts: ReadonlyMap<string, string>;
}

export class Board {
  #entries = new Map<string, string>();
  readonly #series = new Map<SeriesName, Sent>();
  #lines = 0;
  #changes = -1;
  #changedAt: Milliseconds = 0;
  readonly #jobs = new Map<string, JobTexts>();
  readonly #descriptors = new Map<WorkerId, number | null>();
  /** Workers that had their turn in this round. */
  readonly #counted = new Set<WorkerId>();

  constructor(
    private readonly model: SessionModel,
    private readonly place: Place,
  ) {}

  /** Brings the board up to date. Returns the changes as JSON, or null when nothing has changed. */
  update(): string | null {
    const now = performance.now();
    if (this.model.changes !== this.#changes) this.#changedAt = now;
    else if (now - this.#changedAt > SETTLES) return null;
    this.#changes = this.model.changes;
    const set: string[] = [];
    const append: string[] = [];
    this.#grown(set, append);
    const next = this.#make();
    for (const [key, text] of next) if (this.#entries.get(key) !== text) set.push(entry(key, text));
    const remove = [...this.#entries.keys()].filter((key) => !next.has(key));
    this.#entries = next;
    if (set.length + append.length + remove.length === 0) return null;
    return `{"set":{${set.join(",")}},"remove":${JSON.stringify(remove)},"append":{${append.join(",")}}}`;
  }

  /** All entries, as a page with all patches has them. */
  snapshot(): string {
    const entries = [...this.#entries].map(([key, text]) => entry(key, text));
    for (const name of SERIES) {
      entries.push(entry(`series/${name}`, JSON.stringify(this.#columns(name, 0, this.#series.get(name)?.length))));
    }
    entries.push(entry("happened", JSON.stringify(this.#linesUpTo(this.#lines, MOST_LINES))));
    return `{"entries":{${entries.join(",")}}}`;
  }

  #make(): Map<string, string> {
    const { model } = this;
    const { jobs, jobsBefore, workers, happened, happenedBefore } = model.now;
    const entries = new Map<string, string>();
    const shown = this.#shownJobs([...jobs.values()]);
    const left = {
      jobs: jobsBefore + jobs.size - shown.length,
      happened: Math.max(happenedBefore, happenedBefore + happened.length - MOST_LINES),
    };
    entries.set("session", JSON.stringify(sessionCard(model, this.place, left)));
    entries.set("totals", JSON.stringify(totalsCard(model)));
    this.#countDescriptors();
    for (const worker of workers.values()) {
      const descriptors = this.#descriptors.get(worker.id) ?? null;
      entries.set(`worker/${worker.id}`, JSON.stringify(workerCard(model, worker, descriptors)));
    }
    for (const job of shown) for (const [key, text] of this.#jobTexts(job)) entries.set(key, text);
    return entries;
  }

  #shownJobs(jobs: readonly JobView[]): readonly JobView[] {
    const shown = shownJobs(jobs);
    const ids = new Set<string>(shown.map(({ id }) => id));
    for (const id of this.#jobs.keys()) if (!ids.has(id)) this.#jobs.delete(id);
    return shown;
  }

  /** Texts of an ended job are final once its rates have fallen to zero. */
  #jobTexts(job: JobView): ReadonlyMap<string, string> {
    const known = this.#jobs.get(job.id);
    if (known?.isOver === true) return known.texts;
    const texts = new Map([[`job/${job.id}`, JSON.stringify(jobCard(this.model, job))]]);
    const shares = sharesOf(this.model.now, job);
    const underWay = timeUnderWay(this.model, job);
    for (const totals of job.operators) {
      const { plan } = totals;
      const key = `plan/${job.id}/${plan.id}`;
      texts.set(key, known?.texts.get(key) ?? JSON.stringify(plan));
      const now = operatorNow(this.model, job, totals, {
        share: shares.get(plan.id) ?? null,
        underWay: underWay.get(plan.id) ?? 0,
      });
      texts.set(`operator/${job.id}/${plan.id}`, JSON.stringify(now));
    }
    const isOver =
      job.endedAt !== null && this.model.time - job.endedAt > SETTLES && this.model.now === this.model.state;
    this.#jobs.set(job.id, { isOver, texts });
    return texts;
  }

  /** Looks at a few workers per update, in turn. */
  #countDescriptors(): void {
    const { workers } = this.model.now;
    for (const id of this.#descriptors.keys()) if (!workers.has(id)) this.#descriptors.delete(id);
    if (this.model.status !== "running") return;
    let counted = 0;
    for (const { id, pid } of workers.values()) {
      if (pid === null || this.#counted.has(id)) continue;
      this.#counted.add(id);
      this.#descriptors.set(id, descriptorsOf(pid));
      counted += 1;
      if (counted === COUNTED) return;
    }
    this.#counted.clear();
  }

  #grown(set: string[], append: string[]): void {
    for (const name of SERIES) {
      const series = this.#seriesOf(name);
      const epoch = name === "operators" ? `${series.epoch} ${this.#fullest().join(" ")}` : String(series.epoch);
      const sent = this.#series.get(name);
      const { length } = series;
      if (sent?.epoch === epoch && sent.length === length) continue;
      this.#series.set(name, { epoch, length });
      if (sent?.epoch === epoch) append.push(entry(`series/${name}`, JSON.stringify(this.#columns(name, sent.length))));
      else set.push(entry(`series/${name}`, JSON.stringify(this.#columns(name, 0))));
    }
    const { happened, happenedBefore } = this.model.now;
    const total = happenedBefore + happened.length;
    if (total === this.#lines) return;
    if (total < this.#lines) set.push(entry("happened", JSON.stringify(this.#linesUpTo(total, MOST_LINES))));
    else
      append.push(entry("happened", JSON.stringify(this.#linesUpTo(total, Math.min(total - this.#lines, MOST_LINES)))));
    this.#lines = total;
  }

  #linesUpTo(total: number, most: number): readonly Happened[] {
    const { happened, happenedBefore } = this.model.now;
    const end = total - happenedBefore;
    const lines = happened.slice(Math.max(0, end - most), Math.max(0, end));
    return lines.flatMap((event) => happenedLine(event) ?? []);
  }

  #columns(name: SeriesName, from: number, to?: number) {
    const only = name === "operators" ? this.#fullest() : undefined;
    return this.#seriesOf(name).columns({
      from,
      ...(to === undefined ? {} : { to }),
      ...(only === undefined ? {} : { only }),
    });
  }

  #seriesOf(name: SeriesName): PointSeries {
    return name === "flow" ? this.model.flow.series : this.model.series[name];
  }

  #fullest(): readonly string[] {
    return this.model.series.peaks.highest(MOST_OPERATORS);
  }
}

const SERIES: readonly SeriesName[] = ["memory", "node", "store", "flow", "deaths", "operators"];

function entry(key: string, text: string): string {
  return `${JSON.stringify(key)}:${text}`;
}
