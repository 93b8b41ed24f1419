/**
 * Runs fixtures as programs of their own, in every way in which people run TypeScript and JavaScript, and revives what
 * they shipped in another process. Vitest rewrites imports, so nothing of that may run inside it.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FIXTURES = fileURLToPath(new URL("fixtures/", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const TSX = pathToFileURL(require.resolve("tsx")).href;

export interface Shipped {
  readonly name: string;
  readonly local?: string;
  readonly refused?: string;
  readonly error?: string;
  readonly variable?: string;
  readonly at?: string | null;
  readonly stack?: string;
  readonly columns?: readonly string[] | null;
  readonly location?: string | null;
  readonly isClass?: boolean;
  readonly isAsync?: boolean;
  readonly isGenerator?: boolean;
  readonly bytes?: number;
  readonly milliseconds?: number;
}
export interface Answer {
  readonly value: string;
  readonly stack?: string;
}
export interface Outcome {
  readonly shipped: readonly Shipped[];
  readonly answers: Readonly<Record<string, Answer>>;
  /** What either process said on stderr. */
  readonly noise: string;
  /** The fixture's own file, as its positions should name it. */
  readonly source: string;
}

export interface Workshop {
  /** Through tsx, in a package of this type. */
  tsx(fixture: string, type: "module" | "commonjs"): Promise<Outcome>;
  /** Compiled by tsc first; the sources are not there when it runs. */
  tsc(fixture: string, type: "module" | "commonjs"): Promise<Outcome>;
  /** Plain JavaScript in plain node. */
  node(fixture: string, type: "module" | "commonjs"): Promise<Outcome>;
  /** Node with these arguments (`-e …`), in a directory with the fixtures. */
  command(args: readonly string[], input?: string): Promise<Outcome>;
  close(): void;
}

export async function openWorkshop(): Promise<Workshop> {
  const directory = mkdtempSync(join(tmpdir(), "spillway-closure-"));
  const dist = join(directory, "dist");
  // Other folders may not compile at the moment; this one and what it uses must.
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        rootDir: join(ROOT, "src"),
        outDir: dist,
        typeRoots: [join(ROOT, "node_modules/@types")],
        declaration: false,
      },
      include: [],
      files: [join(ROOT, "src/closure/index.ts")],
    }),
  );
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  await run(process.execPath, [TSC, "-p", join(directory, "tsconfig.json")]).catch((error) => {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  });
  const closure = pathToFileURL(join(dist, "closure/index.js")).href;
  let projects = 0;

  function project(type: "module" | "commonjs"): string {
    const place = join(directory, `project-${++projects}`);
    cpSync(FIXTURES, place, { recursive: true });
    writeFileSync(join(place, "package.json"), JSON.stringify({ type }));
    installPackages(join(place, "node_modules"));
    return place;
  }

  async function play(place: string, args: readonly string[], source: string, input = ""): Promise<Outcome> {
    const out = join(place, "shipped");
    const env = { ...process.env, CLOSURE: closure, SHIP_OUT: out, NODE_OPTIONS: "" };
    const preload = pathToFileURL(join(FIXTURES, "preload.mjs")).href;
    const child = run(process.execPath, ["--import", preload, ...args], { cwd: place, env });
    child.child.stdin?.end(input);
    const { stderr } = await child;
    const worker = await run(process.execPath, [join(FIXTURES, "worker.mjs"), closure, out], {
      cwd: directory,
      env: { ...process.env, NODE_OPTIONS: "" },
      maxBuffer: 1 << 26,
    });
    return {
      shipped: JSON.parse(readFileSync(join(out, "shipped.json"), "utf8")),
      answers: JSON.parse(worker.stdout),
      noise: stderr + worker.stderr,
      source,
    };
  }

  return {
    tsx(fixture, type) {
      const place = project(type);
      return play(place, ["--import", TSX, join(place, fixture)], join(place, fixture));
    },
    async tsc(fixture, type) {
      const place = project(type);
      mkdirSync(join(place, "out"));
      const options = ["--target", "es2022", "--module", "nodenext", "--outDir", join(place, "out"), "--sourceMap"];
      const relaxed = ["--rewriteRelativeImportExtensions", "--skipLibCheck", "--noCheck", "--ignoreConfig"];
      await run(process.execPath, [TSC, ...options, ...relaxed, "--rootDir", place, join(place, fixture)], {
        cwd: place,
      });
      return play(place, [join(place, "out", fixture.replace(/ts$/, "js"))], join(place, fixture));
    },
    node(fixture, type) {
      const place = project(type);
      return play(place, [join(place, fixture)], join(place, fixture));
    },
    command(args, input) {
      const place = project("commonjs");
      return play(place, args, place, input);
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Two packages as users install them: one for each module system. */
function installPackages(place: string): void {
  const packages = {
    "pkg-esm": {
      "package.json": '{"name":"pkg-esm","type":"module","exports":{"import":"./main.js"}}',
      "main.js":
        "export class Money { constructor(n) { this.n = n } times(k) { return this.n * k } }\nexport const half = (x) => x / 2;\n",
    },
    "pkg-cjs": {
      "package.json": '{"name":"pkg-cjs","main":"./main.js"}',
      "main.js":
        "const secret = new WeakMap();\nexports.third = (x) => { secret.set(exports, x); return x / 3; };\nexports.name = 'cjs';\n",
    },
  };
  for (const [name, files] of Object.entries(packages)) {
    mkdirSync(join(place, name), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(place, name, file), text);
  }
}

/** The line (from 1) of a fixture that holds this mark. */
export function lineOf(file: string, mark: string): number {
  const lines = readFileSync(join(FIXTURES, file), "utf8").split("\n");
  return lines.findIndex((line) => line.includes(`MARK ${mark}`)) + 1;
}
