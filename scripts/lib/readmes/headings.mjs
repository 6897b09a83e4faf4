import { kindOf } from "../rules/kinds.mjs";

const maxLines = 150;
const everyPackage = ["Install", "Use"];
const everyBackend = [
  "Install",
  "Use",
  "What it guarantees",
  "What it does not",
  "Options",
  "When things fail",
  "Stored layout",
  "Security",
  "Upgrading",
];

/** Checks a package README's title, its headings in their order, and its length. One sentence per problem. */
export function headingProblems(entry, text) {
  const lines = outsideCode(text);
  const title = lines.find((line) => line.startsWith("# "));
  const found = lines.filter((line) => line.startsWith("## ")).map((line) => line.slice(3).trim());
  const wanted = kindOf(entry) === "backend" ? everyBackend : everyPackage;
  const problems = wanted
    .filter((heading) => !found.includes(heading))
    .map((heading) => `the heading "## ${heading}" is missing`);
  const order = found.filter((heading) => wanted.includes(heading));
  if (problems.length === 0 && order.join() !== wanted.join())
    problems.push(`its headings must be in this order: ${wanted.join(", ")}`);
  if (title !== `# ${entry.manifest.name}`) problems.push(`its title must be "# ${entry.manifest.name}"`);
  const length = text.trimEnd().split("\n").length;
  if (length > maxLines) problems.push(`${length} lines; at most ${maxLines}`);
  return problems;
}

function outsideCode(text) {
  let inside = false;
  return text.split("\n").filter((line) => {
    if (line.startsWith("```")) inside = !inside;
    return !inside;
  });
}
