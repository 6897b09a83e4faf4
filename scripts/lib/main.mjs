/** Runs an entry script: what it throws becomes one readable message and exit code 1. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack.trimEnd() : error}\n`);
    process.exitCode = 1;
  }
}
