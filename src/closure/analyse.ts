/** Walks a parsed script once and notes its lexical structure: scopes, declarations, references, borrowed words. */
import type { AnyNode, Class, Identifier, Function as JsFunction, Pattern, Program, PropertyDefinition } from "acorn";
import {
  type Binding,
  type BindingKind,
  type Borrowed,
  childrenOf,
  type FunctionSite,
  type Lexical,
  type Reference,
  type Scope,
  staticName,
} from "./lexical.ts";

export function analyse(ast: Program): Lexical {
  const functions: FunctionSite[] = [];
  const references: Reference[] = [];
  const borrowed: Borrowed[] = [];

  function open(kind: Scope["kind"], node: { start: number; end: number }, parent: Scope | null): Scope {
    return { kind, start: node.start, end: node.end, parent, bindings: new Map() };
  }

  function declare(scope: Scope, name: string, kind: BindingKind, node: AnyNode, start: number): void {
    let target = scope;
    if (kind === "var") while (target.kind === "block" && target.parent !== null) target = target.parent;
    const known = target.bindings.get(name);
    // `var x` over a parameter x is the same variable; a function declared over it is an assignment to it.
    if (known === undefined) target.bindings.set(name, { name, kind, scope: target, node, start, assigned: false });
    else known.assigned = true;
  }

  function refer(node: Identifier, scope: Scope, write: boolean, member: string | null): void {
    if (node.name === "arguments" && ownerOf(scope).kind !== "program") {
      borrowed.push({ word: "arguments", start: node.start, owner: ownerOf(scope) });
      return;
    }
    references.push({ name: node.name, start: node.start, scope, write, member, binding: null });
  }

  /** Names that a pattern declares (`kind`) or writes to (kind null); its defaults and computed keys are read. */
  function pattern(node: Pattern, scope: Scope, kind: BindingKind | null, declarer: AnyNode): void {
    switch (node.type) {
      case "Identifier":
        if (kind === null) refer(node, scope, true, null);
        else declare(scope, node.name, kind, declarer, node.start);
        return;
      case "ObjectPattern":
        for (const property of node.properties) {
          if (property.type === "RestElement") pattern(property.argument, scope, kind, declarer);
          else {
            if (property.computed) visit(property.key, scope, false);
            pattern(property.value, scope, kind, declarer);
          }
        }
        return;
      case "ArrayPattern":
        for (const element of node.elements) if (element !== null) pattern(element, scope, kind, declarer);
        return;
      case "RestElement":
        pattern(node.argument, scope, kind, declarer);
        return;
      case "AssignmentPattern":
        pattern(node.left, scope, kind, declarer);
        visit(node.right, scope, false);
        return;
      default:
        visit(node, scope, false);
    }
  }

  function enterFunction(node: JsFunction, outer: Scope, strict: boolean, holder: AnyNode | null): void {
    const isMethod = holder !== null && isMethodHolder(holder);
    const form = node.type === "ArrowFunctionExpression" ? "arrow" : isMethod ? "method" : "function";
    let around = outer;
    if (node.type === "FunctionExpression" && node.id) {
      around = open("self", node, outer);
      declare(around, node.id.name, "self", node as AnyNode, node.start);
    }
    const inner = open(form === "arrow" ? "arrow" : "function", node, around);
    const body = node.body as AnyNode;
    const isStrict = strict || hasDirective(body);
    functions.push({ node, form, holder, start: node.start, end: node.end, outer, inner, strict: isStrict });
    for (const param of node.params) pattern(param, inner, "param", node as AnyNode);
    if (body.type === "BlockStatement") for (const statement of body.body) visit(statement, inner, isStrict);
    else visit(body, inner, isStrict);
  }

  function enterClass(node: Class, outer: Scope, holder: AnyNode | null): void {
    const inner = open("class", node, outer);
    if (node.id) declare(inner, node.id.name, "self", node as AnyNode, node.start);
    functions.push({ node, form: "class", holder, start: node.start, end: node.end, outer, inner, strict: true });
    if (node.superClass) visit(node.superClass, inner, true);
    for (const member of node.body.body) {
      if (member.type === "StaticBlock") {
        const scope = open("field", member, inner);
        for (const statement of member.body) visit(statement, scope, true);
        continue;
      }
      if (member.computed) visit(member.key, inner, true);
      if (member.type === "MethodDefinition") enterFunction(member.value, inner, true, member);
      else enterField(member, inner);
    }
  }

  function enterField(member: PropertyDefinition, scope: Scope): void {
    if (member.value) visit(member.value, open("field", member, scope), true, member);
  }

  function visitAll(nodes: Iterable<AnyNode>, scope: Scope, strict: boolean): void {
    for (const node of nodes) visit(node, scope, strict);
  }

  function visit(node: AnyNode, scope: Scope, strict: boolean, holder: AnyNode | null = null): void {
    switch (node.type) {
      case "Identifier":
        refer(node, scope, false, null);
        return;
      case "FunctionDeclaration":
        if (node.id) declare(scope, node.id.name, "function", node, node.id.start);
        enterFunction(node, scope, strict, null);
        return;
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        enterFunction(node, scope, strict, holder);
        return;
      case "ClassDeclaration":
        if (node.id) declare(scope, node.id.name, "class", node, node.id.start);
        enterClass(node, scope, holder);
        return;
      case "ClassExpression":
        enterClass(node, scope, holder);
        return;
      case "VariableDeclaration":
        for (const declarator of node.declarations) {
          pattern(declarator.id, scope, node.kind === "var" || node.kind === "let" ? node.kind : "const", declarator);
          if (declarator.init) visit(declarator.init, scope, strict);
        }
        return;
      case "ImportDeclaration":
        for (const specifier of node.specifiers) {
          declare(scope, specifier.local.name, "import", node, specifier.local.start);
        }
        return;
      case "ExportNamedDeclaration":
        if (node.declaration) visit(node.declaration, scope, strict);
        return;
      case "ExportAllDeclaration":
        return;
      case "BlockStatement":
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
      case "SwitchStatement": {
        const inner = open("block", node, scope);
        if (
          (node.type === "ForInStatement" || node.type === "ForOfStatement") &&
          node.left.type !== "VariableDeclaration"
        )
          pattern(node.left, inner, null, node);
        visitAll(
          childrenOf(node).filter((child) => !("left" in node) || child !== node.left || isDeclaration(child)),
          inner,
          strict,
        );
        return;
      }
      case "CatchClause": {
        const inner = open("block", node, scope);
        if (node.param) pattern(node.param, inner, "catch", node);
        visit(node.body, inner, strict);
        return;
      }
      case "AssignmentExpression":
        pattern(node.left, scope, null, node);
        visit(node.right, scope, strict);
        return;
      case "UpdateExpression":
        if (node.argument.type === "Identifier") refer(node.argument, scope, true, null);
        else visit(node.argument, scope, strict);
        return;
      case "MemberExpression": {
        const name = staticName(node.property as AnyNode, node.computed);
        if (node.object.type === "Identifier") refer(node.object, scope, false, name);
        else visit(node.object as AnyNode, scope, strict);
        if (node.property.type === "PrivateIdentifier") noteBorrowed("private", node.property.start, scope);
        else if (node.computed) visit(node.property, scope, strict);
        return;
      }
      case "PrivateIdentifier":
        noteBorrowed("private", node.start, scope);
        return;
      case "Property":
        if (node.computed) visit(node.key, scope, strict);
        visit(node.value, scope, strict, node);
        return;
      case "LabeledStatement":
        visit(node.body, scope, strict);
        return;
      case "BreakStatement":
      case "ContinueStatement":
        return;
      case "MetaProperty":
        noteBorrowed(node.meta.name === "import" ? "import.meta" : "new.target", node.start, scope);
        return;
      case "ThisExpression":
        noteBorrowed("this", node.start, scope);
        return;
      case "Super":
        noteBorrowed("super", node.start, scope);
        return;
      case "CallExpression":
        if (node.callee.type === "Identifier" && node.callee.name === "eval") noteBorrowed("eval", node.start, scope);
        visitAll(childrenOf(node), scope, strict);
        return;
      default:
        visitAll(childrenOf(node), scope, strict);
        return;
    }
  }

  function noteBorrowed(word: Borrowed["word"], start: number, scope: Scope): void {
    borrowed.push({ word, start, owner: ownerOf(scope) });
  }

  const program = open("program", ast, null);
  const strict = ast.sourceType === "module" || ast.body.some(isUseStrict);
  visitAll(ast.body, program, strict);
  references.sort((a, b) => a.start - b.start);
  for (const reference of references) {
    reference.binding = lookUp(reference.scope, reference.name);
    if (reference.write && reference.binding !== null) reference.binding.assigned = true;
  }
  return { program, functions, references, borrowed };
}

function isDeclaration(node: AnyNode): boolean {
  return node.type === "VariableDeclaration";
}

function isMethodHolder(holder: AnyNode): boolean {
  if (holder.type === "MethodDefinition") return true;
  return holder.type === "Property" && (holder.method || holder.kind !== "init");
}

function isUseStrict(statement: AnyNode): boolean {
  return statement.type === "ExpressionStatement" && statement.directive === "use strict";
}

function hasDirective(body: AnyNode): boolean {
  return body.type === "BlockStatement" && body.body.some(isUseStrict);
}

/** The scope that `this` and `arguments` belong to: arrow functions and blocks have none. */
function ownerOf(scope: Scope): Scope {
  let owner = scope;
  while (owner.parent !== null && owner.kind !== "function" && owner.kind !== "field") owner = owner.parent;
  return owner;
}

function lookUp(scope: Scope, name: string): Binding | null {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const found = at.bindings.get(name);
    if (found !== undefined) return found;
  }
  return null;
}
