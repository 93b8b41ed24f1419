/**
 * The scheduler's state is divided by owner: a room writes only what is its own, and calls the functions of other rooms
 * for the rest. Read from the source: every assignment, and every call of a method that changes a collection.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "acorn";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";

const scheduler = fileURLToPath(new URL("../src/scheduler", import.meta.url));

/** Objects in State, JobState, OperatorState, TaskState and WorkerState, and the room that writes what is in each. */
const OBJECTS: Readonly<Record<string, string>> = {
  phases: "phases",
  flow: "flow",
  edges: "flow",
  input: "flow",
  output: "flow",
  budget: "flow",
  cancel: "flow",
  store: "store",
  starts: "starts",
  memory: "memory",
  recycling: "memory",
  needs: "needs",
  oom: "oom",
  resources: "resources",
  placement: "placement",
  report: "jobs",
  run: "jobs",
  result: "jobs",
};

/** Their single fields. */
const FIELDS: Readonly<Record<string, string>> = {
  jobs: "phases",
  workers: "phases",
  knows: "phases",
  ran: "phases",
  phase: "phases",
  asking: "phases",
  error: "phases",
  alone: "needs",
  trials: "needs",
  ended: "flow",
  heldBy: "placement",
  task: "jobs",
  worker: "jobs",
  inspection: "jobs",
  pid: "core",
  now: "core",
  order: "state",
  options: "nobody",
  operators: "jobs",
};

const CHANGES = new Set([
  "add",
  "clear",
  "delete",
  "drain",
  "pop",
  "push",
  "set",
  "shift",
  "sort",
  "splice",
  "unshift",
]);

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === "string" ? node.name : "";
}

/** Where a local name leads: `const { heavy } = state.memory` gives `heavy` the path `state memory heavy`. */
type Aliases = ReadonlyMap<string, readonly string[]>;

/** The names of `a.b?.c[0]`, with the first one followed to where it came from. */
function pathOf(node: unknown, aliases: Aliases): readonly string[] {
  if (!isNode(node)) return [];
  if (node.type === "ChainExpression") return pathOf(node.expression, aliases);
  if (node.type === "MemberExpression") {
    return [...pathOf(node.object, aliases), node.computed === true ? "[]" : nameOf(node.property)];
  }
  const name = node.type === "ThisExpression" ? "this" : nameOf(node);
  return aliases.get(name) ?? [name];
}

function bind(pattern: unknown, path: readonly string[], aliases: Map<string, readonly string[]>): void {
  if (!isNode(pattern)) return;
  if (pattern.type === "Identifier") aliases.set(nameOf(pattern), path);
  if (pattern.type === "AssignmentPattern") bind(pattern.left, path, aliases);
  if (pattern.type !== "ObjectPattern") return;
  for (const property of childrenOf(pattern)) {
    if (property.type === "Property") bind(property.value, [...path, nameOf(property.key)], aliases);
  }
}

/** Aliases of a function: its parameters, the constants that it names, what it loops over. */
function aliasesOf(fn: Node, outer: Aliases): Aliases {
  const aliases = new Map(outer);
  const params = Array.isArray(fn.params) ? fn.params : [];
  for (const param of params)
    bind(param, isNode(param) && param.type === "Identifier" ? [nameOf(param)] : ["?"], aliases);
  const look = (node: Node): void => {
    if (node !== fn && isFunction(node)) return;
    if (node.type === "VariableDeclarator" && isNode(node.init)) bind(node.id, pathOf(node.init, aliases), aliases);
    if (node.type === "ForOfStatement" && isNode(node.left)) {
      for (const one of childrenOf(node.left)) bind(one.id, [...pathOf(node.right, aliases), "[]"], aliases);
    }
    for (const child of childrenOf(node)) look(child);
  };
  look(fn);
  return aliases;
}

function isFunction({ type }: Node): boolean {
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

/** What the node writes to; null: it writes nothing. */
function written(node: Node, aliases: Aliases): readonly string[] | null {
  if (node.type === "AssignmentExpression") return isMember(node.left) ? pathOf(node.left, aliases) : null;
  if (node.type === "UpdateExpression") return isMember(node.argument) ? pathOf(node.argument, aliases) : null;
  if (node.type !== "CallExpression" || !isMember(node.callee)) return null;
  const path = pathOf(node.callee, aliases);
  return CHANGES.has(path.at(-1) ?? "") ? path.slice(0, -1) : null;
}

function isMember(node: unknown): boolean {
  return isNode(node) && node.type === "MemberExpression";
}

/** The owner of what lies at a path: that of the last object on it that has one. */
function ownerOf([first, ...path]: readonly string[]): string | null {
  if (first === "this") return null;
  const object = path.findLast((name) => Object.hasOwn(OBJECTS, name));
  if (object !== undefined) return OBJECTS[object] ?? null;
  const field = path.findLast((name) => Object.hasOwn(FIELDS, name));
  return field === undefined ? null : (FIELDS[field] ?? null);
}

/** Writes of a file to what another room owns. */
function foreignWrites(text: string, room: string): readonly string[] {
  const { code } = transformSync(text, { loader: "ts", target: "es2022" });
  const found: string[] = [];
  const visit = (node: Node, outer: Aliases): void => {
    const aliases = isFunction(node) ? aliasesOf(node, outer) : outer;
    const path = written(node, aliases);
    const owner = path === null ? null : ownerOf(path);
    if (path !== null && owner !== null && owner !== room) found.push(`${path.join(".")} is written by ${owner}`);
    for (const child of childrenOf(node)) visit(child, aliases);
  };
  const program: unknown = parse(code, { ecmaVersion: "latest", sourceType: "module" });
  if (isNode(program)) visit(program, new Map());
  return found;
}

test("[O4] a room of the scheduler writes only its own part of the state", () => {
  const found: Record<string, readonly string[]> = {};
  for (const entry of readdirSync(scheduler, { recursive: true, withFileTypes: true })) {
    const path = relative(scheduler, join(entry.parentPath, entry.name));
    const [room = ""] = path.split("/");
    if (!entry.isFile() || room === path) continue;
    const writes = foreignWrites(readFileSync(join(scheduler, path), "utf8"), room);
    if (writes.length > 0) found[path] = writes;
  }
  expect(found).toEqual({});
});

test("[O4] the test of owners sees through local names", () => {
  const wrong = foreignWrites(
    `function f(state: State, { run: { need } }: TaskState) {
       const { heavy } = state.memory;
       heavy.add(1);
       for (const { phases } of state.alone) phases.idle.delete(1);
       state.flow.unreadBytes += need.size;
       return state.memory.node;
     }`,
    "flow",
  );
  expect(wrong).toEqual(["state.memory.heavy is written by memory", "state.alone.[].phases.idle is written by phases"]);
});
