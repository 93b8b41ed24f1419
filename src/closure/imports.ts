/**
 * Which variables of a script are imports, so that the worker repeats the import instead of receiving the module: ESM
 * import declarations, `require` in its compiled forms, `await import("…")`. Found in the source; the module itself is
 * not looked at.
 */
import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { AnyNode, ImportDeclaration, Pattern, VariableDeclarator } from "acorn";
import { isOwnContext } from "../realm/index.ts";
import { type Binding, type FunctionSite, staticName } from "./lexical.ts";
import type { ModuleRequest } from "./payload.ts";
import type { Script } from "./script.ts";

export interface ImportedVariable {
  readonly request: ModuleRequest;
  /** From the module's namespace to the variable's value. */
  readonly path: readonly string[];
}

export function importOf(binding: Binding, script: Script): ImportedVariable | null {
  const node = binding.node;
  if (node.type === "ImportDeclaration") return importDeclared(node, binding.name, script);
  if (node.type === "VariableDeclarator" && !binding.assigned) return importAssigned(node, binding.name, script);
  return null;
}

function importDeclared(node: ImportDeclaration, name: string, script: Script): ImportedVariable | null {
  const attributes: Record<string, string> = {};
  for (const attribute of node.attributes ?? []) {
    const key = staticName(attribute.key, false);
    if (key !== null && typeof attribute.value.value === "string") attributes[key] = attribute.value.value;
  }
  const request: ModuleRequest = {
    base: script.base,
    specifier: String(node.source.value),
    form: "import",
    attributes: Object.keys(attributes).length > 0 ? attributes : null,
    interop: "none",
  };
  for (const specifier of node.specifiers) {
    if (specifier.local.name !== name) continue;
    if (specifier.type === "ImportNamespaceSpecifier") return { request, path: [] };
    if (specifier.type === "ImportDefaultSpecifier") return { request, path: ["default"] };
    const imported = staticName(specifier.imported, false);
    if (imported !== null) return { request, path: [imported] };
  }
  return null;
}

function importAssigned(node: VariableDeclarator, name: string, script: Script): ImportedVariable | null {
  const found = node.init ? moduleExpression(node.init, script) : null;
  const into = found === null ? null : pathInto(node.id, name);
  return found === null || into === null ? null : { request: found.request, path: [...found.path, ...into] };
}

/** The path by which a destructuring pattern reaches the name; null if it is unknown. */
function pathInto(pattern: Pattern, name: string): readonly string[] | null {
  if (pattern.type === "Identifier") return pattern.name === name ? [] : null;
  if (pattern.type !== "ObjectPattern") return null;
  for (const property of pattern.properties) {
    if (property.type !== "Property") continue;
    const key = staticName(property.key, property.computed);
    const rest = key === null ? null : pathInto(property.value, name);
    if (key !== null && rest !== null) return [key, ...rest];
  }
  return null;
}

/** The names that TypeScript, esbuild and similar compilers give to the functions around `require`. */
const INTEROP: ReadonlyMap<string, ModuleRequest["interop"]> = new Map([
  ["__importDefault", "default"],
  ["__importStar", "star"],
  ["__toESM", "star"],
]);

function moduleExpression(node: AnyNode, script: Script): ImportedVariable | null {
  const request = (source: AnyNode | undefined, form: "import" | "require"): ImportedVariable | null =>
    source?.type === "Literal" && typeof source.value === "string"
      ? {
          request: { base: script.base, specifier: source.value, form, attributes: null, interop: "none" },
          path: [],
        }
      : null;
  if (node.type === "AwaitExpression" && node.argument.type === "ImportExpression") {
    return node.argument.options ? null : request(node.argument.source, "import");
  }
  if (node.type === "MemberExpression") {
    const name = staticName(node.property as AnyNode, node.computed);
    const inner = name === null ? null : moduleExpression(node.object as AnyNode, script);
    return inner === null || name === null ? null : { request: inner.request, path: [...inner.path, name] };
  }
  if (node.type !== "CallExpression") return null;
  const callee = node.callee as AnyNode;
  if (callee.type === "Identifier" && callee.name === "require") return request(node.arguments[0], "require");
  const wrapper =
    callee.type === "MemberExpression" ? staticName(callee.property as AnyNode, callee.computed) : calledName(callee);
  const interop = wrapper === null ? undefined : INTEROP.get(wrapper);
  const [wrapped, nodeMode] = node.arguments;
  const inner = interop === undefined || wrapped === undefined ? null : moduleExpression(wrapped, script);
  if (inner === null || interop === undefined || inner.path.length > 0) return null;
  return { request: { ...inner.request, interop: nodeMode === undefined ? interop : "node" }, path: [] };
}

function calledName(callee: AnyNode): string | null {
  return callee.type === "Identifier" ? callee.name : null;
}

/** The name under which an ES module exports a function or class of its top level, or null. */
export function exportedName(script: Script, site: FunctionSite): string | null {
  if (!script.isModule) return null;
  let local: string | null = null;
  for (const [name, binding] of script.lexical.program.bindings) {
    const declarator = binding.node.type === "VariableDeclarator" ? unwrapName(binding.node.init) : binding.node;
    if (!binding.assigned && declarator === site.node) local = name;
  }
  for (const statement of script.ast.body) {
    if (statement.type === "ExportDefaultDeclaration") {
      const exported = statement.declaration;
      if (exported === site.node || (exported.type === "Identifier" && exported.name === local)) return "default";
    }
    if (statement.type !== "ExportNamedDeclaration" || statement.source) continue;
    if (local !== null && statement.declaration && declares(statement.declaration, local)) return local;
    for (const specifier of statement.specifiers) {
      if (local !== null && staticName(specifier.local, false) === local) return staticName(specifier.exported, false);
    }
  }
  return null;
}

/** `__name(() => …, "f")`: how esbuild keeps a function's name. */
function unwrapName(init: AnyNode | null | undefined): AnyNode | null {
  if (init?.type === "CallExpression" && calledName(init.callee as AnyNode) === "__name") {
    return init.arguments[0] ?? null;
  }
  return init ?? null;
}

function declares(node: AnyNode, name: string): boolean {
  if (node.type === "VariableDeclaration") return node.declarations.some((one) => pathInto(one.id, name) !== null);
  return (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id?.name === name;
}

let entry: string | null | undefined;

/** If a worker imported the program's own entry, it would run the program again. */
export function isEntry(url: string): boolean {
  if (entry === undefined) {
    const path = process.argv[1];
    try {
      entry = path === undefined ? null : pathToFileURL(realpathSync(path)).href;
    } catch {
      entry = null;
    }
  }
  return entry !== null && withoutExtension(url) === withoutExtension(entry);
}

/** TypeScript sources refer to each other by the extension of the compiled file. */
function withoutExtension(url: string): string {
  return url.replace(/[?#].*$/, "").replace(/\.[cm]?[jt]sx?$/, "");
}

/**
 * A test runner that runs the program in a context of its own also loads the program's modules itself, compiled or
 * mocked, under names unknown to Node. The worker cannot repeat that, so such modules travel by value. Packages are
 * loaded as usual.
 */
export function isRunnersModule(specifier: string): boolean {
  return isOwnContext() && /^[./]|^file:/.test(specifier) && !specifier.includes("/node_modules/");
}

/** Whether a worker can repeat this import. */
export function isRepeatable(request: ModuleRequest): boolean {
  return !requestsEntry(request) && !isRunnersModule(request.specifier);
}

/** Whether this request leads to the entry script. Only relative and absolute names can. */
function requestsEntry(request: ModuleRequest): boolean {
  if (!/^[./]|^file:/.test(request.specifier) || !URL.canParse(request.specifier, request.base)) return false;
  return isEntry(new URL(request.specifier, request.base).href);
}
