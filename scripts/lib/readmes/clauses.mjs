import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The ids of all clauses, as the pages of the contract have them. */
export function clauseIds(base) {
  const folder = join(base, "docs", "contract");
  const pages = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : [];
  const texts = pages.map((name) => readFileSync(join(folder, name), "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(/^## ([A-Z]\d\d) /gm)].map(([, id]) => id)));
}

/** Which clauses a page names that there are none of. */
export function clauseProblems(text, ids) {
  return text.split("\n").flatMap((line, index) => {
    const named = [...line.matchAll(/\b[HSFPM]\d\d\b/g)].map(([id]) => id);
    return named.filter((id) => !ids.has(id)).map((id) => `line ${index + 1}: there is no clause ${id}`);
  });
}
