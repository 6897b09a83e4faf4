import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fencedBlocks } from "./fences.mjs";

/** The ids of all clauses, from the generated pages. */
export function clauseIds(base) {
  const folder = join(base, "docs", "contract");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : [];
  return names.flatMap((name) =>
    [...readFileSync(join(folder, name), "utf8").matchAll(/^## ([A-Z]+\d+) /gm)].map(([, id]) => id),
  );
}

/** The commands of a page that pick tests by a pattern (-t) in which some alternative is the id of no clause. */
export function patternProblems(text, ids) {
  return fencedBlocks(text)
    .filter(({ info }) => info === "sh" || info === "sh run")
    .flatMap(({ line, lines }) =>
      lines.flatMap((command, index) =>
        unknownIn(command, ids).map(
          (part) => `line ${line + index + 1}: -t names ${part || "nothing"}, which is no clause`,
        ),
      ),
    );
}

function unknownIn(command, ids) {
  const patterns = [...command.matchAll(/\s(?:-t|--testNamePattern)[\s=]+("[^"]*"|'[^']*'|\S+)/g)];
  const parts = patterns.flatMap(([, pattern]) => pattern.replace(/^["']|["']$/g, "").split("|"));
  return parts.filter((part) => !ids.includes(part));
}
