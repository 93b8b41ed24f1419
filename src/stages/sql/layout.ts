/**
 * SQL for people: one line for each clause, nested queries indented. Only the space between tokens changes; quoted text
 * stays as it is, and nothing is left out.
 */
const SHORT = 90;
const LONG = 110;
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$[\s\S]*?\$\$|\/\*[\s\S]*?\*\/|\w+|\s+|[\s\S]/gu;
const CLAUSES = new Set(
  "FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT OFFSET UNION INTERSECT EXCEPT USING JOIN".split(" "),
);
const JOINS = /^(LEFT|RIGHT|FULL|OUTER|INNER|CROSS|SEMI|ANTI|ASOF|POSITIONAL|NATURAL)$/;

export function sqlLines(sql: string): readonly string[] {
  // A comment ends with its line, so SQL with comments keeps its lines.
  if (sql.includes("--")) return sql.split("\n");
  return new Layout(sql.match(TOKEN) ?? []).lines();
}

class Layout {
  readonly #lines: string[] = [];
  readonly #ends: ReadonlyMap<number, number>;
  #line = "";
  #indent = 0;
  #brackets = 0;
  #goesOn = false;

  constructor(private readonly tokens: readonly string[]) {
    this.#ends = closings(tokens);
  }

  lines(): readonly string[] {
    this.#write(0, this.tokens.length, this.#length(0, this.tokens.length) > SHORT);
    this.#break();
    return this.#lines;
  }

  /** `broken`: its clauses are on separate lines. */
  #write(from: number, to: number, broken: boolean): void {
    for (let i = from; i < to; i += 1) {
      const token = this.tokens[i] ?? "";
      const end = token === "(" ? this.#ends.get(i) : undefined;
      if (end !== undefined) {
        this.#parentheses(i, end);
        i = end;
      } else if (token.trim() === "") this.#line += this.#line === "" ? "" : " ";
      else {
        if (broken && i > from && this.#startsClause(i)) this.#break();
        this.#line += token;
        if (token === "[" || token === "]") this.#brackets += token === "[" ? 1 : -1;
        // Breaks between columns and between files, but not between arguments.
        if (token === "," && this.#line.length > LONG && (broken || this.#brackets > 0)) this.#break(true);
      }
    }
  }

  #parentheses(open: number, close: number): void {
    const broken = this.#isQuery(open, close) && this.#length(open, close) > SHORT;
    this.#line += "(";
    if (broken) {
      this.#break();
      this.#indent += 1;
    }
    this.#write(open + 1, close, broken);
    if (broken) {
      this.#break();
      this.#indent -= 1;
    }
    this.#line += ")";
  }

  /** `goesOn`: the next line continues the same clause. */
  #break(goesOn = false): void {
    const indent = this.#indent + (this.#goesOn ? 1 : 0);
    if (this.#line.trim() !== "") this.#lines.push(`${"  ".repeat(indent)}${this.#line.trimEnd()}`);
    this.#line = "";
    this.#goesOn = goesOn;
  }

  #length(from: number, to: number): number {
    let length = 0;
    for (let i = from; i < to && length <= SHORT; i += 1) length += this.tokens[i]?.length ?? 0;
    return length;
  }

  /** Whether the parentheses contain a SELECT, or several bracketed SELECTs that are combined. */
  #isQuery(open: number, close: number): boolean {
    const first = this.#next(open);
    const end = this.#ends.get(first);
    if (end === undefined) return /^(SELECT|WITH|FROM|VALUES)$/i.test(this.tokens[first] ?? "");
    const after = this.#next(end);
    const together = after === close || /^(UNION|INTERSECT|EXCEPT)$/i.test(this.tokens[after] ?? "");
    return together && this.#isQuery(first, end);
  }

  #startsClause(at: number): boolean {
    const word = this.tokens[at]?.toUpperCase() ?? "";
    const before = this.#wordBefore(at);
    if (word === "FROM") return before !== "DISTINCT";
    if (word === "JOIN") return !JOINS.test(before);
    if (CLAUSES.has(word)) return true;
    if (!JOINS.test(word) || JOINS.test(before)) return false;
    let next = at + 2;
    while (JOINS.test(this.tokens[next]?.toUpperCase() ?? "")) next += 2;
    return this.tokens[next]?.toUpperCase() === "JOIN";
  }

  /** The index of the next token that is not white space. */
  #next(at: number): number {
    let i = at + 1;
    while (this.tokens[i]?.trim() === "") i += 1;
    return i;
  }

  #wordBefore(at: number): string {
    let i = at - 1;
    while (this.tokens[i]?.trim() === "") i -= 1;
    return this.tokens[i]?.toUpperCase() ?? "";
  }
}

/** From the index of each `(` to that of its `)`. */
function closings(tokens: readonly string[]): ReadonlyMap<number, number> {
  const open: number[] = [];
  const ends = new Map<number, number>();
  tokens.forEach((token, i) => {
    if (token === "(") open.push(i);
    const start = token === ")" ? open.pop() : undefined;
    if (start !== undefined) ends.set(start, i);
  });
  return ends;
}
