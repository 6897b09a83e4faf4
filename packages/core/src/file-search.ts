import type { ErrorCode } from "./errors.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import type { FileMatch } from "./ports/file-store.ts";

/** Steps of the matcher between two looks at the clock: well below a millisecond. */
const WORK_BETWEEN_LOOKS = 10_000;

/** How long a search may keep the event loop to itself. */
const SLICE_MS = 10;

/** How far a search may go. */
interface SearchLimits {
  /** At most this many matching lines. */
  readonly limit: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Handed in: a module that is loaded on demand and shares nothing with its loader costs that nothing. */
  readonly makeError: (code: ErrorCode, message: string) => Error;
}

/**
 * The lines that match, in the order of the files. Takes time in proportion to the text, whatever the pattern, and lets
 * other work run every few milliseconds.
 *
 * @throws `configuration` for a pattern that is no regular expression; `timeout`; the abort reason.
 */
export async function searchFiles(
  files: readonly { readonly path: string; readonly text: string }[],
  pattern: string,
  limits: SearchLimits,
): Promise<FileMatch[]> {
  const startSearch = compiled(pattern, limits);
  const breathe = breather(limits);
  const found: FileMatch[] = [];
  for (const file of files) {
    for (const [index, text] of file.text.split(/\r?\n/).entries()) {
      if (found.length === limits.limit) {
        return found;
      }
      const search = startSearch(text);
      let matches: boolean | undefined;
      do {
        matches = search(WORK_BETWEEN_LOOKS);
        await breathe();
      } while (matches === undefined);
      if (matches) {
        found.push({ path: file.path, line: index + 1, text });
      }
    }
  }
  return found;
}

function compiled(pattern: string, { makeError }: SearchLimits): ReturnType<typeof compileLinearPattern> {
  try {
    return compileLinearPattern(pattern);
  } catch (error) {
    const rule = error instanceof SyntaxError ? error.message : "cannot be compiled";
    throw makeError("configuration", `pattern: ${rule}`);
  }
}

/** Gives a function to call between slices of work: it pauses now and then, and ends what takes too long. */
function breather({ timeoutMs, signal, makeError }: SearchLimits): () => Promise<void> | undefined {
  let sliceEnd = Date.now() + SLICE_MS;
  const deadline = Date.now() + timeoutMs;
  return () => {
    const now = Date.now();
    if (now > deadline) {
      throw makeError("timeout", `search: not done within ${timeoutMs} ms`);
    }
    return now < sliceEnd ? undefined : pause();
  };

  async function pause(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    signal?.throwIfAborted();
    sliceEnd = Date.now() + SLICE_MS;
  }
}
