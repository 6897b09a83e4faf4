import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fencedBlocks } from "./fences.mjs";

const contract = join("docs", "contract");

/** The pages beside the generated ones, which nobody compares with the clauses. */
export function extraPages(base) {
  const writer = join(base, "packages", "provider-testing", "test", "docs.test.ts");
  const text = existsSync(writer) ? readFileSync(writer, "utf8") : "";
  const written = [...text.matchAll(/\["([a-z-]+)", contractPage\(/g)].map(([, name]) => `${name}.md`);
  return contractPages(base)
    .filter((name) => !written.includes(name))
    .map((name) => `docs/contract/${name}: no clauses are written to it; its writer is docs.test.ts of the kit`);
}

function contractPages(base) {
  const folder = join(base, contract);
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".md")) : [];
}

/** The commands of a page that pick tests (-t) or clauses (--only) of which one is the id of no clause. */
export function patternProblems(text, ids) {
  return fencedBlocks(text)
    .filter(({ info }) => info === "sh" || info === "sh run")
    .flatMap(({ line, lines }) =>
      lines.flatMap((command, index) =>
        unknownIn(command, ids).map(
          (part) => `line ${line + index + 1}: it picks ${part || "nothing"}, which is no clause`,
        ),
      ),
    );
}

function unknownIn(command, ids) {
  const patterns = [...command.matchAll(/\s(?:-t|--testNamePattern|--only)[\s=]+("[^"]*"|'[^']*'|\S+)/g)];
  const parts = patterns.flatMap(([, pattern]) => pattern.replace(/^["']|["']$/g, "").split(/[|,]/));
  return parts.filter((part) => !ids.has(part));
}
