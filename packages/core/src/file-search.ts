import type { ErrorCode } from "./errors.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import type { FileMatch } from "./ports/file-store.ts";

/** Steps of the matcher between two looks at the clock: well below a millisecond. */
const WORK_BETWEEN_LOOKS = 10_000;

/** How long a search may keep the event loop to itself. */
const SLICE_MS = 10;

/** How far a search may go. */
export interface FileSearchLimits {
  /** At most this many matching lines. */
  readonly limit: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Handed in: a module that is loaded on demand and shares nothing with its loader costs that nothing. */
  readonly makeError: (code: ErrorCode, message: string) => Error;
}

/** A file as a search sees it. */
export interface SearchedFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The lines that match, in the order of the files, which may come one by one. Takes time in proportion to the text,
 * whatever the pattern, and lets other work run every few milliseconds.
 *
 * @throws `configuration` for a pattern that is no regular expression, before the first file is asked for; `timeout`;
 * the abort reason.
 */
export async function searchFiles(
  files: Iterable<SearchedFile> | AsyncIterable<SearchedFile>,
  pattern: string,
  limits: FileSearchLimits,
): Promise<FileMatch[]> {
  const startSearch = compiled(pattern, limits);
  const breathe = breather(limits);
  const found: FileMatch[] = [];
  for await (const { path, text } of files) {
    const search = startSearch(text);
    let line: ReturnType<typeof search>;
    do {
      line = search(WORK_BETWEEN_LOOKS);
      if (line && found.push({ path, ...line }) === limits.limit) {
        return found;
      }
      const pause = breathe();
      if (pause !== undefined) {
        await pause;
      }
    } while (line !== null);
  }
  return found;
}

function compiled(pattern: string, { makeError }: FileSearchLimits): ReturnType<typeof compileLinearPattern> {
  try {
    return compileLinearPattern(pattern);
  } catch (error) {
    const rule = error instanceof SyntaxError ? error.message : "cannot be compiled";
    throw makeError("configuration", `pattern: ${rule}`);
  }
}

/** Gives a function to call between slices of work: it pauses now and then, and ends what takes too long. */
function breather({ timeoutMs, signal, makeError }: FileSearchLimits): () => Promise<void> | undefined {
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
