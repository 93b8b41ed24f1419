/**
 * Facts about files, kept as long as the files stay the same. A server asks about the same files again
 * and again, and their schemas cost more than a small query. A file is identified by path, size, time and inode. A file
 * written to within the last second is always asked about, because a second write may get the same time. The memory is
 * bounded.
 */
import type { InspectedRow, QuickQuestion } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";

/** Characters of all questions and facts of one kind in a session: enough for about 30,000 files. */
const MOST_KEPT = 16 * 2 ** 20;
const ROW_LENGTH = 200;
const SETTLED_MS = 1000;

type Inspector = Pick<Engine, "inspect">;

interface Kept<Facts> {
  /** From files and question to the facts. Those used last are at the end. */
  readonly answers: Map<string, { readonly facts: Facts; readonly length: number }>;
  length: number;
}

/** One kind of facts, for each session. `rows`: how many rows the facts are as long as. */
export class KeptFacts<Facts> {
  readonly #kept = new WeakMap<Inspector, Kept<Facts>>();

  constructor(private readonly rows: (facts: Facts) => number) {}

  /** `question`: names the files. */
  async of(
    engine: Inspector,
    files: readonly SourceFile[],
    question: string,
    find: () => Promise<Facts>,
  ): Promise<Facts> {
    const key = keyOf(files, question);
    if (key === null) return find();
    const own = this.#kept.get(engine) ?? { answers: new Map(), length: 0 };
    this.#kept.set(engine, own);
    const known = own.answers.get(key);
    if (known !== undefined) {
      own.answers.delete(key);
      own.answers.set(key, known);
      return known.facts;
    }
    const facts = await find();
    const length = key.length + this.rows(facts) * ROW_LENGTH;
    if (!own.answers.has(key)) own.length += length;
    own.answers.set(key, { facts, length });
    for (const [oldest, answer] of own.answers) {
      if (own.length <= MOST_KEPT) break;
      own.answers.delete(oldest);
      own.length -= answer.length;
    }
    return facts;
  }
}

const answers = new KeptFacts<readonly InspectedRow[]>(({ length }) => length);

export async function inspectFiles(
  engine: Inspector,
  files: readonly SourceFile[],
  sql: string,
  quick: QuickQuestion | null = null,
): Promise<readonly InspectedRow[]> {
  const question = quick === null ? sql : JSON.stringify(quick);
  return answers.of(engine, files, question, () => engine.inspect(sql, quick));
}

/** Null: some of the files may still be written to. The question names the files. */
function keyOf(files: readonly SourceFile[], question: string): string | null {
  const latest = Date.now() - SETTLED_MS;
  const states: string[] = [];
  for (const { bytes, writtenAt, inode } of files) {
    if (inode === undefined || writtenAt > latest) return null;
    states.push(`${bytes} ${writtenAt} ${inode}`);
  }
  return `${states.join(",")} ${question}`;
}
