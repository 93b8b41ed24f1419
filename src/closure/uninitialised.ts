/**
 * A captured `const` without a value yet reads as undefined in V8's scopes. Two facts distinguish it from a real
 * undefined: what its initialiser can give, and where the running code of its scope is.
 */
import type { Binding } from "./lexical.ts";
import type { Script } from "./script.ts";

export function isUninitialised(binding: Binding, script: Script): boolean {
  if (binding.kind === "class") return true;
  if (binding.kind !== "const" && binding.kind !== "let") return false;
  const init = binding.node.type === "VariableDeclarator" ? binding.node.init : null;
  if (!init) return binding.kind === "const";
  switch (init.type) {
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "ClassExpression":
    case "ObjectExpression":
    case "ArrayExpression":
    case "NewExpression":
    case "TemplateLiteral":
    case "Literal":
      return !binding.assigned;
    default:
      return !binding.assigned && standsBefore(binding, script);
  }
}

/** Whether code of the variable's own scope is running now and has not reached the declaration yet. */
function standsBefore(binding: Binding, script: Script): boolean {
  for (const { url, line, column } of runningCode()) {
    if (url !== script.url && url !== decodeURI(script.url).replace(/^file:\/\//, "")) continue;
    const offset = script.offsetAt(line - 1, column - 1);
    if (offset >= binding.scope.start && offset <= binding.scope.end) return offset < binding.start;
  }
  return false;
}

/** The call sites above this one, in compiled positions: source maps would change them. */
function runningCode(): { url: string; line: number; column: number }[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 50;
    Error.prepareStackTrace = (_, sites) =>
      sites.map((site) => ({
        url: site.getScriptNameOrSourceURL() ?? "",
        line: site.getLineNumber() ?? 0,
        column: site.getColumnNumber() ?? 0,
      }));
    return new Error("where").stack as unknown as { url: string; line: number; column: number }[];
  } finally {
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
    else Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}
