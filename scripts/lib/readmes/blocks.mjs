/**
 * The TypeScript blocks of a Markdown text: `{ line, code, run }`. `line` counts from 1 and is that of the first line of
 * code; `run` says that the fence asks for the block to be executed (```ts run).
 */
export function typescriptBlocks(text) {
  const blocks = [];
  let open;
  text.split("\n").forEach((line, index) => {
    const fence = /^(\s*)(`{3,})\s*(.*)$/.exec(line);
    if (open) {
      if (fence && fence[2].length >= open.fence && fence[3] === "") {
        if (open.block) blocks.push({ ...open.block, code: open.lines.join("\n") });
        open = undefined;
      } else open.lines.push(line);
    } else if (fence) {
      const [language, ...words] = fence[3].split(/\s+/);
      // What comes "from" a source is part of a file that is compiled already.
      const isOurs = ["ts", "typescript"].includes(language) && words[0] !== "from";
      open = {
        fence: fence[2].length,
        lines: [],
        block: isOurs ? { line: index + 2, run: words.includes("run") } : undefined,
      };
    }
  });
  return blocks;
}
