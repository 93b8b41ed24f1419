/** Walks a parsed script once and records its lexical structure: scopes, declarations, references, borrowed words. */
import type {
  AnyNode,
  Class,
  ForInStatement,
  ForOfStatement,
  Identifier,
  Function as JsFunction,
  MemberExpression,
  Pattern,
  Program,
  PropertyDefinition,
  StaticBlock,
  VariableDeclaration,
} from "acorn";
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
  return new Analysis().of(ast);
}

class Analysis {
  readonly #functions: FunctionSite[] = [];
  readonly #references: Reference[] = [];
  readonly #borrowed: Borrowed[] = [];

  of(ast: Program): Lexical {
    const isStrict = ast.sourceType === "module" || ast.body.some(isUseStrict);
    const program = open("program", ast, null, isStrict);
    this.#visitAll(ast.body, program);
    this.#references.sort((a, b) => a.start - b.start);
    for (const reference of this.#references) {
      reference.binding = lookUp(reference.scope, reference.name);
      if (reference.write && reference.binding !== null) reference.binding.assigned = true;
    }
    return { program, functions: this.#functions, references: this.#references, borrowed: this.#borrowed };
  }

  #visitAll(nodes: Iterable<AnyNode>, scope: Scope): void {
    for (const node of nodes) this.#visit(node, scope);
  }

  /** `holder`: the property or member whose value the node is. */
  #visit(node: AnyNode, scope: Scope, holder: AnyNode | null = null): void {
    switch (node.type) {
      case "FunctionDeclaration":
        if (node.id) declare(scope, node.id.name, "function", node, node.id.start);
        this.#function(node, scope, holder);
        break;
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        this.#function(node, scope, holder);
        break;
      case "ClassDeclaration":
        if (node.id) declare(scope, node.id.name, "class", node, node.id.start);
        this.#class(node, scope, holder);
        break;
      case "ClassExpression":
        this.#class(node, scope, holder);
        break;
      case "VariableDeclaration":
        this.#variables(node, scope);
        break;
      case "ImportDeclaration":
        for (const { local } of node.specifiers) declare(scope, local.name, "import", node, local.start);
        break;
      case "ExportNamedDeclaration":
        if (node.declaration) this.#visit(node.declaration, scope);
        break;
      case "BlockStatement":
      case "ForStatement":
      case "SwitchStatement":
        this.#visitAll(childrenOf(node), open("block", node, scope));
        break;
      case "ForInStatement":
      case "ForOfStatement":
        this.#loop(node, open("block", node, scope));
        break;
      case "CatchClause": {
        const inner = open("block", node, scope);
        if (node.param) this.#pattern(node.param, inner, "catch", node);
        this.#visit(node.body, inner);
        break;
      }
      case "LabeledStatement":
        this.#visit(node.body, scope);
        break;
      case "ExportAllDeclaration":
      case "BreakStatement":
      case "ContinueStatement":
        break;
      default:
        this.#expression(node, scope);
    }
  }

  #expression(node: AnyNode, scope: Scope): void {
    switch (node.type) {
      case "Identifier":
        this.#refer(node, scope, false, null);
        break;
      case "AssignmentExpression":
        this.#pattern(node.left, scope, null, node);
        this.#visit(node.right, scope);
        break;
      case "UpdateExpression":
        if (node.argument.type === "Identifier") this.#refer(node.argument, scope, true, null);
        else this.#visit(node.argument, scope);
        break;
      case "MemberExpression":
        this.#member(node, scope);
        break;
      case "Property":
        if (node.computed) this.#visit(node.key, scope);
        this.#visit(node.value, scope, node);
        break;
      case "PrivateIdentifier":
        this.#borrow("private", node.start, scope);
        break;
      case "MetaProperty":
        this.#borrow(node.meta.name === "import" ? "import.meta" : "new.target", node.start, scope);
        break;
      case "ThisExpression":
        this.#borrow("this", node.start, scope);
        break;
      case "Super":
        this.#borrow("super", node.start, scope);
        break;
      case "CallExpression":
        if (node.callee.type === "Identifier" && node.callee.name === "eval") this.#borrow("eval", node.start, scope);
        this.#visitAll(childrenOf(node), scope);
        break;
      default:
        this.#visitAll(childrenOf(node), scope);
    }
  }

  #function(node: JsFunction, outer: Scope, holder: AnyNode | null): void {
    const isMethod = holder !== null && isMethodHolder(holder);
    const form = node.type === "ArrowFunctionExpression" ? "arrow" : isMethod ? "method" : "function";
    let around = outer;
    if (node.type === "FunctionExpression" && node.id) {
      around = open("self", node, outer);
      declare(around, node.id.name, "self", node as AnyNode, node.start);
    }
    const body = node.body as AnyNode;
    const isStrict = outer.isStrict || hasDirective(body);
    const inner = open(form === "arrow" ? "arrow" : "function", node, around, isStrict);
    this.#functions.push({ node, form, holder, start: node.start, end: node.end, outer, inner });
    for (const param of node.params) this.#pattern(param, inner, "param", node as AnyNode);
    if (body.type === "BlockStatement") this.#visitAll(body.body, inner);
    else this.#visit(body, inner);
  }

  #class(node: Class, outer: Scope, holder: AnyNode | null): void {
    const inner = open("class", node, outer, true);
    if (node.id) declare(inner, node.id.name, "self", node as AnyNode, node.start);
    this.#functions.push({ node, form: "class", holder, start: node.start, end: node.end, outer, inner });
    if (node.superClass) this.#visit(node.superClass, inner);
    for (const member of node.body.body) {
      if (member.type !== "StaticBlock" && member.computed) this.#visit(member.key, inner);
      if (member.type === "MethodDefinition") this.#function(member.value, inner, member);
      else this.#field(member, inner);
    }
  }

  /** Code that runs when the class or an instance is made. */
  #field(member: PropertyDefinition | StaticBlock, inner: Scope): void {
    const scope = open("field", member, inner);
    if (member.type === "StaticBlock") this.#visitAll(member.body, scope);
    else if (member.value) this.#visit(member.value, scope, member);
  }

  #variables({ kind, declarations }: VariableDeclaration, scope: Scope): void {
    for (const declarator of declarations) {
      this.#pattern(declarator.id, scope, kind === "var" || kind === "let" ? kind : "const", declarator);
      if (declarator.init) this.#visit(declarator.init, scope);
    }
  }

  #loop(node: ForInStatement | ForOfStatement, inner: Scope): void {
    if (node.left.type === "VariableDeclaration") this.#variables(node.left, inner);
    else this.#pattern(node.left, inner, null, node);
    this.#visit(node.right, inner);
    this.#visit(node.body, inner);
  }

  #member(node: MemberExpression, scope: Scope): void {
    const name = staticName(node.property as AnyNode, node.computed);
    if (node.object.type === "Identifier") this.#refer(node.object, scope, false, name);
    else this.#visit(node.object as AnyNode, scope);
    if (node.computed || node.property.type === "PrivateIdentifier") this.#visit(node.property, scope);
  }

  /** Names that a pattern declares (`kind`) or writes to (`kind` null). Its defaults and computed keys are read. */
  #pattern(node: Pattern, scope: Scope, kind: BindingKind | null, declarer: AnyNode): void {
    switch (node.type) {
      case "Identifier":
        if (kind === null) this.#refer(node, scope, true, null);
        else declare(scope, node.name, kind, declarer, node.start);
        break;
      case "ObjectPattern":
        for (const property of node.properties) {
          if (property.type !== "RestElement" && property.computed) this.#visit(property.key, scope);
          this.#pattern(property.type === "RestElement" ? property.argument : property.value, scope, kind, declarer);
        }
        break;
      case "ArrayPattern":
        for (const element of node.elements) if (element !== null) this.#pattern(element, scope, kind, declarer);
        break;
      case "RestElement":
        this.#pattern(node.argument, scope, kind, declarer);
        break;
      case "AssignmentPattern":
        this.#pattern(node.left, scope, kind, declarer);
        this.#visit(node.right, scope);
        break;
      default:
        this.#visit(node, scope);
    }
  }

  #refer(node: Identifier, scope: Scope, write: boolean, member: string | null): void {
    if (node.name === "arguments" && ownerOf(scope).kind !== "program") this.#borrow("arguments", node.start, scope);
    else this.#references.push({ name: node.name, start: node.start, scope, write, member, binding: null });
  }

  #borrow(word: Borrowed["word"], start: number, scope: Scope): void {
    this.#borrowed.push({ word, start, owner: ownerOf(scope) });
  }
}

function open(
  kind: Scope["kind"],
  { start, end }: { start: number; end: number },
  parent: Scope | null,
  isStrict = parent?.isStrict ?? false,
): Scope {
  return { kind, start, end, parent, isStrict, bindings: new Map() };
}

function declare(scope: Scope, name: string, kind: BindingKind, node: AnyNode, start: number): void {
  let target = scope;
  if (kind === "var") while (target.kind === "block" && target.parent !== null) target = target.parent;
  const known = target.bindings.get(name);
  // `var x` next to a parameter x is the same variable; a function declaration next to it is an assignment to it.
  if (known === undefined) target.bindings.set(name, { name, kind, scope: target, node, start, assigned: false });
  else known.assigned = true;
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

/** The scope that `this` and `arguments` belong to. Arrow functions and blocks have none of their own. */
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
