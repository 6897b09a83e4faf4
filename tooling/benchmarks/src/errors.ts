/** The command line does not make sense. Ends the program with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What stands in the way of a measurement, in words for the person who started it. Ends the program with exit code 1. */
export class BenchmarkError extends Error {
  override readonly name = "BenchmarkError";
}
