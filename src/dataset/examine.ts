/** Asks a worker what raw SQL contains: each text and each function once a session. */
import { KernelError } from "../errors/index.ts";
import { type Examine, examined, type Plan, type RawSeen } from "../plan/index.ts";
import {
  type FunctionKind,
  functionsSql,
  type Parsed,
  parseSql,
  readTree,
  seenIn,
  syntaxFault,
} from "../stages/index.ts";
import type { Engine } from "./engine.ts";

const examiners = new WeakMap<Engine, Examiner>();

/** The plan, with the findings about its raw SQL. */
export function examinedBy(engine: Engine, plan: Plan): Promise<Plan> {
  const examiner = examiners.get(engine) ?? new Examiner(engine);
  examiners.set(engine, examiner);
  return examined(plan, examiner.examine);
}

class Examiner {
  readonly #seen = new Map<string, RawSeen>();
  readonly #kinds = new Map<string, FunctionKind>();
  /** The latest question. Questions wait for each other, because an answer may save the next question. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly engine: Engine) {}

  readonly examine: Examine = (texts) => {
    const answer = this.#last.then(() => this.#examine([...texts]));
    this.#last = answer.catch(() => {});
    return answer;
  };

  async #examine(texts: readonly string[]): Promise<ReadonlyMap<string, RawSeen>> {
    const parsed = await this.#parse(
      texts.filter((text) => !this.#seen.has(text)),
      refuseFaulty,
    );
    await this.#learn(parsed.values());
    for (const [text, each] of parsed) this.#seen.set(text, seenIn(each, this.#kinds));
    return this.#seen;
  }

  async #parse(
    texts: readonly string[],
    check: (text: string, tree: string) => void = () => {},
  ): Promise<ReadonlyMap<string, Parsed>> {
    if (texts.length === 0) return new Map();
    const [row = {}] = await this.engine.inspect(parseSql(texts));
    return new Map(
      texts.flatMap((text, i): readonly [string, Parsed][] => {
        const tree = String(row[i]);
        check(text, tree);
        const parsed = readTree(tree);
        return parsed === null ? [] : [[text, parsed]];
      }),
    );
  }

  /** Learns the kinds of the functions that the texts name. */
  async #learn(parsed: Iterable<Parsed>): Promise<void> {
    const names = new Set([...parsed].flatMap(({ functions, reaching }) => [...functions, ...reaching]));
    const unknown = [...names].filter((name) => !this.#kinds.has(name));
    if (unknown.length === 0) return;
    const rows = await this.engine.inspect(functionsSql(unknown));
    const macros = rows.flatMap(({ macro }) => (typeof macro === "string" ? [macro] : []));
    const definitions = await this.#parse(macros);
    await this.#learn(definitions.values());
    const found = new Map(rows.map((row) => [row.name, row]));
    for (const name of unknown) {
      const row = found.get(name);
      const definition = definitions.get(String(row?.macro));
      this.#kinds.set(name, this.#kindOf(name, row?.aggregate === true, definition));
    }
  }

  /** A function that is defined in SQL has the kind of the functions in its definition. */
  #kindOf(name: string, isAggregate: boolean, definition: Parsed | undefined): FunctionKind {
    const inside = [...(definition?.functions ?? [])].map((each) => this.#kinds.get(each));
    return {
      isAggregate: isAggregate || inside.some((kind) => kind?.isAggregate === true),
      unnests: name === "unnest" || inside.some((kind) => kind?.unnests === true),
    };
  }
}

/** Reported here, while the text is still the user's own and not yet a part of our SQL. */
function refuseFaulty(text: string, tree: string): void {
  const fault = syntaxFault(text, tree);
  if (fault !== null) throw new KernelError(fault, "Parser", text);
}
