import { basename } from "node:path";
import ts from "typescript";
import { lineOf } from "./imports.mjs";

const maxFileLines = 300;
const maxFunctionLines = 40;
// Files that build SQL or scripts hold long texts, not long logic.
const statementFiles = { names: ["schema.ts", "scripts.ts", "statements.ts"], maxFunctionLines: 60 };
const plainErrors = ["Error", "TypeError", "RangeError"];
const testCalls = ["it", "test", "describe", "suite", "bench"];
const skippers = ["skip", "only", "todo", "skipIf", "runIf"];

/** Checks the text of one file in a published package's src. `{ line, text }` for each problem. */
export function sourceProblems(entry, file, source) {
  const problems = fileSize(source);
  const report = (node, text) => problems.push({ line: lineOf(source, node), text });
  const isCli = entry.folder === "provider-testing" && basename(file).startsWith("cli");
  const limit = statementFiles.names.includes(basename(file)) ? statementFiles.maxFunctionLines : maxFunctionLines;
  walk(source, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) report(node, "no `any`");
    if (ts.isNonNullExpression(node)) report(node, "no non-null `!`");
    if (ts.isExportAssignment(node)) report(node, "named exports only");
    if (isConsole(node) && !isCli) report(node, "a library prints nothing: no `console`");
    if (isMember(node, "AbortSignal", "any"))
      report(node, "no `AbortSignal.any`: on several Nodes a time limit in it is collected before it fires");
    if (isPlainError(node)) report(node, `no bare \`new ${node.expression.text}\`; throw the typed error`);
    const lines = ownLines(source, node);
    if (lines > limit) report(node, `a function of ${lines} lines; at most ${limit}`);
  });
  if (basename(file) === "index.ts") problems.push(...starExports(source));
  return [...problems, ...suppressions(source)];
}

/** Checks the text of one test file: nothing may be left out of a run, and nothing may hide the rest. */
export function testProblems(source) {
  const problems = [];
  walk(source, (node) => {
    const bad =
      ts.isPropertyAccessExpression(node) && skippers.includes(node.name.text) && testCalls.includes(rootName(node));
    if (bad) problems.push({ line: lineOf(source, node), text: `no \`${rootName(node)}.${node.name.text}\`` });
  });
  return problems;
}

function fileSize(source) {
  const lines = source.text.trimEnd().split("\n").length;
  return lines > maxFileLines
    ? [{ line: maxFileLines + 1, text: `a file of ${lines} lines; at most ${maxFileLines}` }]
    : [];
}

function isConsole(node) {
  return ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "console";
}

function isMember(node, object, name) {
  return ts.isPropertyAccessExpression(node) && node.name.text === name && rootName(node) === object;
}

function isPlainError(node) {
  return ts.isNewExpression(node) && ts.isIdentifier(node.expression) && plainErrors.includes(node.expression.text);
}

/** The lines of a function without those of the functions inside it; 0 for what is no function. */
function ownLines(source, node) {
  if (!ts.isFunctionLike(node) || !node.body) return 0;
  let lines = span(source, node);
  const subtract = (child) => {
    if (ts.isFunctionLike(child) && child.body) lines -= span(source, child) - 1;
    else ts.forEachChild(child, subtract);
  };
  ts.forEachChild(node.body, subtract);
  return lines;
}

function span(source, node) {
  return (
    source.getLineAndCharacterOfPosition(node.end).line -
    source.getLineAndCharacterOfPosition(node.getStart(source)).line +
    1
  );
}

function starExports(source) {
  return source.statements
    .filter(
      (node) =>
        ts.isExportDeclaration(node) &&
        node.moduleSpecifier &&
        !(node.exportClause && ts.isNamedExports(node.exportClause)),
    )
    .map((node) => ({ line: lineOf(source, node), text: "index.ts lists its exports by name: no `export *`" }));
}

function suppressions(source) {
  return source.text
    .split("\n")
    .map((line, index) => ({ line: index + 1, text: /@ts-(ignore|expect-error|nocheck)/.exec(line)?.[0] }))
    .filter(({ text }) => text !== undefined)
    .map(({ line, text }) => ({ line, text: `no \`${text}\`` }));
}

function rootName(node) {
  let at = node;
  while (ts.isPropertyAccessExpression(at) || ts.isCallExpression(at)) at = at.expression;
  return ts.isIdentifier(at) ? at.text : "";
}

function walk(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
