import { fencedBlocks } from "./fences.mjs";

/**
 * The TypeScript blocks of a Markdown text: `{ line, code, run }`. `line` counts from 1 and is that of the first line of
 * code; `run` says that the fence asks for the block to be executed (```ts run). What comes "from" a source is part of a
 * file that is compiled already.
 */
export function typescriptBlocks(text) {
  return fencedBlocks(text)
    .filter(({ info }) => info === "ts" || info === "ts run")
    .map(({ info, line, lines }) => ({ line: line + 1, code: lines.join("\n"), run: info === "ts run" }));
}
