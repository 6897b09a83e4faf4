import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fencedBlocks } from "./fences.mjs";

/**
 * The blocks of a Markdown text that show a declaration of ours: fenced as "```ts from <path> <Name>". Each is `{ start,
 * end, path, name }`, the numbers of the first line of code and of the closing fence, counted from 0.
 */
function includedBlocks(text) {
  return fencedBlocks(text).flatMap(({ info, line, end }) => {
    const [, path, name] = /^ts from (\S+) (\w+)$/.exec(info) ?? [];
    return path === undefined ? [] : [{ start: line, end: end - 1, path, name }];
  });
}

/** The text of an exported declaration, from its first line to the brace or semicolon that ends it; or nothing. */
export function declaration(source, name) {
  const lines = source.split("\n");
  const start = lines.findIndex((line) =>
    new RegExp(`^export (?:abstract )?(?:interface|type|class|function|const) ${name}\\b`).test(line),
  );
  if (start < 0) return undefined;
  // A union ends with its semicolon; everything longer than a line ends with its brace.
  const last = lines[start].endsWith("=") ? /;$/ : /^}/;
  const end = lines[start].endsWith(";") ? start : lines.findIndex((line, at) => at > start && last.test(line));
  return end < 0 ? undefined : lines.slice(start, end + 1).join("\n");
}

/** A page with every included declaration as it is in the source now, and what could not be found. */
export function withSources(text, base) {
  const lines = text.split("\n");
  const problems = [];
  for (const { start, end, path, name } of includedBlocks(text).reverse()) {
    const file = join(base, path);
    const code = existsSync(file) ? declaration(readFileSync(file, "utf8"), name) : undefined;
    if (code === undefined) problems.push(`line ${start}: ${path} exports no ${name}`);
    else lines.splice(start, end - start, ...code.split("\n"));
  }
  return { text: lines.join("\n"), problems };
}
