// Prints what TypeScript's own compiler says about the calls of a project, as rows that `truth.py` reads.
//
//   node typescript_truth.cjs TYPESCRIPT ROOT < FILES
//
// TYPESCRIPT is the directory of the package `typescript`, ROOT the project's, FILES the paths below it, one
// a line. A `tsconfig.json` in ROOT is used for its path aliases alone.

const fs = require("fs");
const path = require("path");
const [typescript, given] = process.argv.slice(2);
const ts = require(path.resolve(typescript));
const root = fs.realpathSync(given);
const files = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((each) => path.join(root, each));
const known = new Set(files);

const options = {
  allowJs: true,
  jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  types: [],
};
const config = path.join(root, "tsconfig.json");
if (fs.existsSync(config)) {
  const read = ts.getParsedCommandLineOfConfigFile(config, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} });
  for (const key of ["baseUrl", "paths", "pathsBasePath"]) if (read?.options[key]) options[key] = read.options[key];
}
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();
const rows = new Set();
const say = (...cells) => rows.add(cells.join("\t"));

const isFunction = (node) => ts.isFunctionLike(node) && node.body !== undefined;

/** The node that names a function or class: of `const f = () => …` the variable. */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return node;
  if (node.name) return node.name;
  let outer = node.parent;
  while (ts.isParenthesizedExpression(outer) || ts.isAsExpression(outer) || ts.isSatisfiesExpression?.(outer))
    outer = outer.parent;
  if (ts.isVariableDeclaration(outer) || ts.isPropertyAssignment(outer) || ts.isPropertyDeclaration(outer))
    return ts.isIdentifier(outer.name) || ts.isPrivateIdentifier(outer.name) ? outer.name : undefined;
  if (ts.isBinaryExpression(outer) && outer.operatorToken.kind === ts.SyntaxKind.EqualsToken && outer.right !== outer) {
    const left = outer.left;
    return ts.isPropertyAccessExpression(left) ? left.name : ts.isIdentifier(left) ? left : undefined;
  }
  if (ts.isExportAssignment(outer)) return undefined;
  return undefined;
}

const lineOf = (node) => node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
const endOf = (node) => node.getSourceFile().getLineAndCharacterOfPosition(node.getEnd()).line + 1;
const fileOf = (node) => path.relative(root, node.getSourceFile().fileName);

/** A function or class as [path, line, name], if it is the project's and has a name. */
function placeOf(node) {
  if (!known.has(path.resolve(node.getSourceFile().fileName))) return undefined;
  const name = nameOf(node);
  if (name === undefined) return undefined;
  const text = ts.isConstructorDeclaration(node) ? "constructor" : name.getText();
  return [fileOf(node), lineOf(name), text.replace(/^["'`]|["'`]$/g, "").replace(/\s+/g, " ")];
}

function callerOf(node) {
  for (let each = node.parent; each; each = each.parent)
    if (isFunction(each)) {
      const place = placeOf(each);
      if (place) return place;
    }
  return [fileOf(node), 0, ""];
}

const implementers = new Map(); // by the declaration of a class or interface, the classes that say so
function bases(node) {
  const found = [];
  for (const clause of node.heritageClauses ?? [])
    for (const each of clause.types) {
      let symbol = checker.getSymbolAtLocation(each.expression);
      if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
      found.push(...(symbol?.declarations ?? []).filter((d) => ts.isClassLike(d) || ts.isInterfaceDeclaration(d)));
    }
  return found;
}
function every(node, visit) {
  visit(node);
  ts.forEachChild(node, (each) => every(each, visit));
}
const sources = program.getSourceFiles().filter((each) => known.has(path.resolve(each.fileName)));
for (const source of sources)
  every(source, (node) => {
    if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node))
      for (const base of bases(node)) implementers.set(base, [...(implementers.get(base) ?? []), node]);
  });
function below(owner, seen = new Set()) {
  for (const each of implementers.get(owner) ?? [])
    if (!seen.has(each)) {
      seen.add(each);
      below(each, seen);
    }
  return seen;
}
/** The methods, with a body, of what inherits from the owner of a method. */
function overriding(declaration) {
  const name = declaration.name?.getText();
  const found = [];
  for (const each of below(declaration.parent))
    for (const member of each.members ?? [])
      if (member.name?.getText() === name) {
        const target = isFunction(member) ? member : member.initializer;
        if (target && isFunction(target)) found.push(target);
      }
  return found;
}

/** Of overloads the function itself. */
function bodied(declaration) {
  if (isFunction(declaration) || !declaration.symbol) return declaration;
  return declaration.symbol.declarations?.find(isFunction) ?? declaration;
}

function calleeName(node) {
  const called = node.expression;
  return ts.isPropertyAccessExpression(called) ? called.name.getText() : ts.isIdentifier(called) ? called.getText() : called.kind === ts.SyntaxKind.SuperKeyword ? "constructor" : "";
}

function readCall(node) {
  const caller = callerOf(node);
  const line = lineOf(node.expression);
  const unresolved = () => {
    const name = calleeName(node);
    if (name) say("U", ...caller, name);
  };
  const declaration = checker.getResolvedSignature(node)?.declaration;
  if (ts.isNewExpression(node)) {
    let symbol = checker.getSymbolAtLocation(node.expression);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    const cls = symbol?.valueDeclaration;
    const own = cls && ts.isClassLike(cls) ? cls : cls?.initializer && ts.isClassLike(cls.initializer) ? cls.initializer : undefined;
    if (own) {
      const place = placeOf(own.members.find((m) => ts.isConstructorDeclaration(m) && m.body) ?? own);
      if (place) say("E", "call", ...caller, line, ...place);
      if (place && declaration && placeOf(bodied(declaration)))
        say("E", "reference", ...caller, line, ...placeOf(bodied(declaration))); // an inherited constructor
      return;
    }
  }
  if (!declaration) return unresolved();
  const target = bodied(declaration);
  if (isFunction(target)) {
    const place = placeOf(target);
    if (place) {
      say("E", "call", ...caller, line, ...place);
      if (target.parent && (ts.isClassLike(target.parent)))
        for (const each of overriding(target)) {
          const other = placeOf(each);
          if (other) say("E", "override", ...caller, line, ...other);
        }
    }
    return;
  }
  const inside = known.has(path.resolve(target.getSourceFile().fileName));
  if ((ts.isMethodSignature(target) || ts.isMethodDeclaration(target)) && target.parent) {
    const found = overriding(target).map(placeOf).filter(Boolean);
    for (const each of found) say("E", "dispatch", ...caller, line, ...each);
    if (!found.length && inside) unresolved();
    return;
  }
  if (inside || !declaration.getSourceFile) unresolved(); // a function type: any function
}

const program_ = program;
for (const source of sources) {
  say("P", path.relative(root, source.fileName));
  every(source, (node) => {
    if (isFunction(node) || ts.isClassLike(node)) {
      const place = placeOf(node);
      if (place) say("F", ...place, endOf(node), ts.isClassLike(node) ? "class" : "function");
      const object = (ts.isPropertyAssignment(node.parent) ? node.parent : node).parent;
      const call = ts.isObjectLiteralExpression(object) && object.parent; // is it handed over as it is written?
      if (place && call && (ts.isCallExpression(call) || ts.isNewExpression(call)) && call.arguments?.includes(object))
        say("E", "reference", ...callerOf(object), lineOf(node), ...place);
    }
    if (ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.ImportKeyword) readCall(node);
    else if (ts.isNewExpression(node)) readCall(node);
    else if (ts.isIdentifier(node) && node.parent && !ts.isImportSpecifier(node.parent) && !ts.isExportSpecifier(node.parent)) {
      let symbol = checker.getSymbolAtLocation(node);
      if (ts.isShorthandPropertyAssignment(node.parent)) symbol = checker.getShorthandAssignmentValueSymbol(node.parent);
      if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
      for (const each of symbol?.declarations ?? []) {
        const value = isFunction(each) || ts.isClassLike(each) ? each : each.initializer;
        if (value && value !== node.parent && (isFunction(value) || ts.isClassLike(value)) && placeOf(value) && nameOf(value) !== node)
          say("E", "reference", ...callerOf(node), lineOf(node), ...placeOf(value));
      }
    }
  });
}
process.stdout.write([...rows].sort().join("\n") + "\n");
