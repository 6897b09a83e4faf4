import { UsageError } from "./cli-arguments.ts";
import type { Emit, RunRequest } from "./cli-events.ts";
import { type LoadedSuite, loadSuites, OpenFileError } from "./cli-open-file.ts";
import { all } from "./expect.ts";
import { clauseReport } from "./report.ts";

/** Loads the file and runs the clauses, and tells of each step before it is taken. */
export async function work(request: RunRequest, emit: Emit): Promise<void> {
  try {
    emit({ type: "loading" });
    const { file, kind, only, limits } = request;
    const loaded = await inTime(loadSuites(file, kind, limits.clauseMs), limits.loadMs, `${file} did not load`);
    const chosen = choose(loaded, only);
    emit({ type: "opening", suites: chosen.map(({ name, port }) => ({ name, port })) });
    await all(chosen.map((suite) => tryOpen(suite, limits.openMs)));
    await runSuites(chosen, only, emit);
  } catch (error) {
    if (!(error instanceof OpenFileError) && !(error instanceof UsageError)) {
      throw error;
    }
    emit({ type: "refused", message: error.message });
  }
}

async function runSuites(
  chosen: readonly LoadedSuite[],
  only: readonly string[] | undefined,
  emit: Emit,
): Promise<void> {
  const strays: string[] = [];
  // A rejection that nobody waits for would end the process in the middle of the list.
  const onStray = (error: unknown) => strays.push(error instanceof Error ? error.message : String(error));
  process.on("unhandledRejection", onStray);
  try {
    for (const [index, suite] of chosen.entries()) {
      emit({ type: "suite", index });
      await suite.run({
        only: only?.filter((id) => suite.ids.includes(id)),
        onClause: ({ id, title }) => emit({ type: "clause", id, title }),
        onResult: (result) => emit({ type: "result", clause: clauseReport(result) }),
      });
    }
    // Node tells of a stray rejection only when the turn that made it has ended.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", onStray);
  }
  emit({ type: "done", strays });
}

/** The suites that hold any of the clauses that are asked for. */
function choose(suites: readonly LoadedSuite[], only: readonly string[] | undefined): readonly LoadedSuite[] {
  const unknown = only?.filter((id) => !suites.some((suite) => suite.ids.includes(id))) ?? [];
  if (unknown.length > 0) {
    const ranges = suites.map(({ port, ids }) => `${port} has ${ids[0]} to ${ids.at(-1)}`);
    throw new UsageError(`No such clause: ${unknown.join(", ")}. ${ranges.join("; ")}.`);
  }
  return suites.filter((suite) => only === undefined || suite.ids.some((id) => only.includes(id)));
}

/** Opens once and closes: what is wrong with the file is told once, and not by every clause. */
async function tryOpen(suite: LoadedSuite, limitMs: number): Promise<void> {
  let close: () => Promise<void>;
  try {
    close = await inTime(suite.tryOpen(), limitMs, "it did not settle");
  } catch (error) {
    throw openFailed(error);
  }
  await close().catch((error: unknown) => {
    throw openFailed(error);
  });
}

function openFailed(error: unknown): OpenFileError {
  const why = error instanceof Error ? error.message : String(error);
  return new OpenFileError(`open() failed, before any clause was run: ${why}`, { cause: error });
}

async function inTime<T>(call: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OpenFileError(`${what} within ${limitMs} ms.`)), limitMs);
  });
  // Where nothing else is left to happen the process ends, and that is told at once.
  timer?.unref();
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
