import { AgentFrameworkError, configurationError } from "@agentfw/core";
import { searchFiles } from "@agentfw/core/files";

const MAX_GLOB_LENGTH = 256;
const TOKEN = /\[[!^]?\]?[^\]]*\]|[\s\S]/gu;

/**
 * The names that a glob fits, whatever their case: `*` for anything, `?` for one character, `[abc]` and `[!abc]` for one
 * of some, `{a,b}` for one of several. All names without a glob. Runs on the same engine as a search, so no pattern takes
 * long.
 *
 * @throws `configuration` for a glob that is too long or malformed.
 */
export async function matchingNames(
  names: readonly string[],
  glob: string | undefined,
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  if (glob === undefined) {
    return new Set(names);
  }
  if (glob.length > MAX_GLOB_LENGTH) {
    throw configurationError("glob_pattern", `must have at most ${MAX_GLOB_LENGTH} characters`);
  }
  const found = await searchFiles(
    names.map((name) => ({ path: name, text: name })),
    expressionOf(glob),
    {
      limit: Math.max(1, names.length),
      timeoutMs,
      makeError: (code, message) =>
        code === "configuration"
          ? configurationError("glob_pattern", "is malformed")
          : new AgentFrameworkError(code, message),
    },
  );
  return new Set(found.map(({ path }) => path));
}

function expressionOf(glob: string): string {
  let depth = 0;
  const parts = (glob.match(TOKEN) ?? []).map((token) => {
    switch (token) {
      case "*":
        return ".*";
      case "?":
        return ".";
      case "{":
        depth += 1;
        return "(?:";
      case "}":
        depth -= 1;
        return ")";
      case ",":
        return depth > 0 ? "|" : ",";
      default:
        return token.length > 1 && token.startsWith("[") ? classOf(token) : escaped(token);
    }
  });
  return `^(?:${parts.join("")})$`;
}

function classOf(token: string): string {
  const inner = token.slice(1, -1);
  const isNegated = /^[!^]/.test(inner);
  const characters = (isNegated ? inner.slice(1) : inner).replace(/[\\[\]^]/g, "\\$&");
  return `[${isNegated ? "^" : ""}${characters}]`;
}

function escaped(character: string): string {
  return /[\\^$.|+()[\]{}/]/.test(character) ? `\\${character}` : character;
}
