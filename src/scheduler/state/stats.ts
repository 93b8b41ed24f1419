/** Figures of an operator, gathered task by task, in the form in which they travel. */
import type {
  Bytes,
  HandedOver,
  LearnedNeed,
  Milliseconds,
  Operator,
  OperatorStats,
  Skipped,
  Spread,
  TaskReport,
  WrittenFile,
} from "../../protocol/index.ts";

const NOTHING_SKIPPED: Skipped = { files: 0, rowGroups: 0, rows: 0, columns: 0 };

class Gathered {
  #min = Number.POSITIVE_INFINITY;
  #max = 0;
  #total = 0;
  #count = 0;

  add(value: number): void {
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    this.#total += value;
    this.#count += 1;
  }

  get total(): number {
    return this.#total;
  }

  spread(): Spread {
    if (this.#count === 0) return { min: 0, max: 0, mean: 0, total: 0 };
    return { min: this.#min, max: this.#max, mean: this.#total / this.#count, total: this.#total };
  }
}

export class OperatorFigures {
  tasks = 0;
  tasksDone = 0;
  retries = 0;
  oomRetries = 0;
  learned: LearnedNeed | null = null;
  blocks = 0;
  /** Rows passed on by an operator that has no tasks. */
  rowsPassed = 0;
  readonly #files: WrittenFile[] = [];
  readonly #rowsOut = new Gathered();
  readonly #bytesOut = new Gathered();
  readonly #wall = new Gathered();
  readonly #cpu = new Gathered();
  #errored = 0;
  #peakMemory: Bytes = 0;

  readonly #heldBack = new Map<string, Milliseconds>();

  heldBack(policy: string, duration: Milliseconds): void {
    this.#heldBack.set(policy, (this.#heldBack.get(policy) ?? 0) + duration);
  }

  taskDone(report: TaskReport): void {
    this.tasksDone += 1;
    this.#rowsOut.add(report.rowsOut);
    this.#bytesOut.add(report.bytesOut);
    this.#wall.add(report.wall);
    this.#cpu.add(report.cpu);
    this.#errored += report.errored;
    this.#peakMemory = Math.max(this.#peakMemory, report.peakMemory);
    this.#files.push(...report.files);
  }

  /** A task that a limit cut short, and what it had handed over. */
  taskCut(handedOver: readonly HandedOver[], wall: Milliseconds): void {
    if (handedOver.length === 0) return;
    this.#rowsOut.add(handedOver.reduce((sum, { rows }) => sum + rows, 0));
    this.#bytesOut.add(handedOver.reduce((sum, { length }) => sum + length, 0));
    this.#wall.add(wall);
  }

  /**
   * A file without rows is kept only if it is the only one: it tells the columns, which any file with rows does, too.
   */
  get files(): readonly WrittenFile[] {
    const filled = this.#files.filter(({ rows }) => rows !== 0);
    return filled.length > 0 ? filled : this.#files.slice(0, 1);
  }

  get rowsReported(): number {
    return this.#rowsOut.total;
  }

  get peakMemory(): Bytes {
    return this.#peakMemory;
  }

  stats(operator: Operator): OperatorStats {
    const passed = this.rowsPassed;
    return {
      id: operator.id,
      name: operator.name,
      tasks: this.tasks,
      tasksDone: this.tasksDone,
      retries: this.retries,
      oomRetries: this.oomRetries,
      learned: this.learned,
      blocks: this.blocks,
      rowsOut:
        operator.kind === "slice" ? { min: passed, max: passed, mean: passed, total: passed } : this.#rowsOut.spread(),
      bytesOut: this.#bytesOut.spread(),
      wall: this.#wall.spread(),
      cpu: this.#cpu.spread(),
      errored: this.#errored,
      peakMemory: this.#peakMemory,
      heldBack: Object.fromEntries([...this.#heldBack].map(([policy, duration]) => [policy, duration / 1000])),
      skipped: operator.kind === "tasks" ? operator.skipped : NOTHING_SKIPPED,
    };
  }
}
