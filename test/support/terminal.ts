/** A program in a pseudo-terminal, and a small terminal that shows what it wrote there. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface Action {
  readonly after: string;
  readonly resize?: number;
  readonly type?: string;
  /** What the test does at this moment, with all that the program has written so far. The program goes on meanwhile. */
  readonly first?: (output: string) => Promise<void>;
}

export interface TerminalRun {
  readonly output: string;
  /** What the terminal shows at the end, with all that has scrolled away. Knows few escapes: shells write others. */
  readonly lines: readonly string[];
  readonly code: number | null;
  readonly signal: number | null;
}

export async function inTerminal(
  program: readonly string[],
  given: {
    readonly columns?: number;
    readonly rows?: number;
    readonly actions?: readonly Action[];
    readonly cwd: string;
    readonly env?: NodeJS.ProcessEnv;
    /** After which the program is killed. */
    readonly seconds?: number;
  },
): Promise<TerminalRun> {
  const { columns = 100, rows = 24, actions = [], cwd, env = process.env, seconds = 60 } = given;
  const script = join(import.meta.dirname, "terminal.py");
  const asked = actions.map(({ first, ...action }) => ({ ...action, asks: first !== undefined }));
  const child = spawn("python3", [script, JSON.stringify({ columns, rows, seconds, actions: asked }), ...program], {
    cwd,
    env: { ...env, TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = actions.flatMap(({ first }) => first ?? []);
  let last = "";
  try {
    for await (const line of createInterface(child.stdout)) {
      last = line;
      const { asked: soFar } = JSON.parse(line);
      if (soFar === undefined) continue;
      await waiting.shift()?.(Buffer.from(soFar, "base64").toString());
      child.stdin.write("go on\n");
    }
  } finally {
    child.stdin.end();
  }
  const told = JSON.parse(last);
  const bytes = Buffer.from(told.output, "base64");
  return {
    output: bytes.toString("utf8"),
    get lines() {
      return shown(bytes, told.done);
    },
    code: told.code,
    signal: told.signal,
  };

  function shown(written: Buffer, done: readonly number[]): readonly string[] {
    const terminal = new Terminal(columns, rows);
    let from = 0;
    for (const [i, action] of actions.entries()) {
      const to = done[i] ?? written.length;
      terminal.take(written.toString("utf8", from, to));
      from = to;
      if (action.resize !== undefined) terminal.resize(action.resize);
    }
    terminal.take(written.toString("utf8", from));
    return terminal.lines;
  }
}

/** A row of characters; `isBroken`: the next one continues it. */
interface Row {
  cells: string[];
  isBroken: boolean;
}

export class Terminal {
  #rows: Row[] = [{ cells: [], isBroken: false }];
  #row = 0;
  #column = 0;
  /** The most lines that stood at the bottom at once, by what `count` counts. */
  readonly #height: number;
  #columns: number;

  constructor(columns: number, height: number) {
    this.#columns = columns;
    this.#height = height;
  }

  /** Without spaces at their ends, nor empty ones at the end. */
  get lines(): readonly string[] {
    const lines: string[] = [];
    let begun = "";
    for (const { cells, isBroken } of this.#rows) {
      begun += cells.map((cell) => cell ?? " ").join("");
      if (isBroken) continue;
      lines.push(begun.trimEnd());
      begun = "";
    }
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  take(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a terminal reads.
    for (const [token] of text.matchAll(/\x1b\[([0-9;?]*)([A-Za-z])|[\s\S]/gu)) this.#token(token);
  }

  /**
   * Lines that were broken are put together and broken anew, as most terminals do. The cursor stays at its character.
   */
  resize(columns: number): void {
    const old = this.#rows;
    const at = { row: this.#row, column: this.#column };
    this.#columns = columns;
    this.#rows = [];
    let line: string[] = [];
    for (const [row, { cells, isBroken }] of old.entries()) {
      const isAt = row === at.row;
      const place = line.length + at.column;
      line.push(...cells);
      if (isAt) {
        this.#row = this.#rows.length + Math.floor(place / columns);
        this.#column = place % columns;
      }
      if (isBroken) continue;
      this.#rows.push(...broken(line, columns));
      line = [];
    }
    if (line.length > 0) this.#rows.push(...broken(line, columns));
    this.#rowAt(this.#row);
  }

  #token(token: string): void {
    if (token === "\r") this.#column = 0;
    else if (token === "\n") this.#down();
    else if (token.startsWith("\x1b[")) this.#control(token.slice(2, -1), token.at(-1) ?? "");
    else if (token >= " ") this.#put(token);
    else if (token !== "\x07") throw new Error(`the terminal does not know ${JSON.stringify(token)}`);
  }

  #control(argument: string, letter: string): void {
    const times = Number(argument || 1);
    if (letter === "A") this.#row = Math.max(this.#row - times, Math.max(0, this.#rows.length - this.#height));
    else if (letter === "C") this.#column = Math.min(this.#columns - 1, this.#column + times);
    else if (letter === "K")
      this.#rowAt(this.#row).cells.length = Math.min(this.#rowAt(this.#row).cells.length, this.#column);
    else if (letter === "J") {
      // What is erased from its first column on continues no line.
      if (this.#row > 0 && this.#column === 0) this.#rowAt(this.#row - 1).isBroken = false;
      const row = this.#rowAt(this.#row);
      row.cells.length = Math.min(row.cells.length, this.#column);
      row.isBroken = false;
      for (const below of this.#rows.slice(this.#row + 1)) {
        below.cells = [];
        below.isBroken = false;
      }
    } else if (letter !== "m") throw new Error(`the terminal does not know ESC [ ${argument} ${letter}`);
  }

  #put(character: string): void {
    // The cursor waits in the last column until more comes.
    if (this.#column >= this.#columns) {
      this.#rowAt(this.#row).isBroken = true;
      this.#down();
      this.#column = 0;
    }
    const { cells } = this.#rowAt(this.#row);
    while (cells.length < this.#column) cells.push(" ");
    cells[this.#column] = character;
    this.#column += 1;
  }

  #down(): void {
    this.#row += 1;
    this.#rowAt(this.#row);
  }

  #rowAt(index: number): Row {
    while (this.#rows.length <= index) this.#rows.push({ cells: [], isBroken: false });
    const row = this.#rows[index];
    if (row === undefined) throw new Error(`there is no row ${index}`);
    return row;
  }
}

function broken(cells: readonly string[], columns: number): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at === 0 || at < cells.length; at += columns) {
    rows.push({ cells: cells.slice(at, at + columns), isBroken: at + columns < cells.length });
  }
  return rows;
}
