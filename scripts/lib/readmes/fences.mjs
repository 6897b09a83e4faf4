/** What may stand behind the ticks of a block. Whatever is not here would be checked by nobody, so nobody may write it. */
const known = [
  /^$/,
  /^(json|sh|sql|text|md)$/,
  /^sh run$/,
  /^ts( run)?$/,
  /^ts from \S+ \w+$/,
  /^text from \S+ [A-Z\d,]+$/,
];

/**
 * The fenced blocks of a Markdown text: `{ info, line, end, lines, problems }`. `line` and `end` count from 1 and are the
 * lines of the two fences, `end` one behind the text where the block is not closed; `problems` is what is wrong with the fences.
 */
export function fencedBlocks(text) {
  const blocks = [];
  let open;
  text.split("\n").forEach((line, index) => {
    const [, ticks, info] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === undefined && ticks !== undefined) {
      open = { ticks, block: { info: info.trim(), line: index + 1, lines: [], problems: infoProblems(ticks, info) } };
    } else if (open !== undefined && isClosing(open.ticks, ticks, info)) {
      blocks.push({ ...open.block, end: index + 1 });
      open = undefined;
    } else open?.block.lines.push(line);
  });
  if (open === undefined) return blocks;
  const problems = [...open.block.problems, "the block that begins here has no end"];
  return [...blocks, { ...open.block, end: text.split("\n").length + 1, problems }];
}

/** What is wrong with the fences of a text, as `line N: what`. */
export function fenceProblems(text) {
  return fencedBlocks(text).flatMap(({ line, problems }) => problems.map((problem) => `line ${line}: ${problem}`));
}

function isClosing(opening, ticks, info) {
  return ticks !== undefined && ticks[0] === opening[0] && ticks.length >= opening.length && info.trim() === "";
}

function infoProblems(ticks, info) {
  if (ticks.startsWith("~")) return [`the fence is "${ticks}"; write it with backticks`];
  if (info !== info.trim()) return [`there are spaces around "${info.trim()}" in the fence`];
  return known.some((one) => one.test(info))
    ? []
    : [
        `"${info}" is no kind of block: ts, ts run, ts from <path> <Name>, sh, sh run, sql, json, text, text from <path> <ids>, md or nothing`,
      ];
}
