/**
 * What a backend notices about a file itself, in the shape of a system error, so that `fileFailure` knows what it means and
 * callers see it as a `cause`. Its message may hold a path.
 */
export class FileProblem extends Error {
  /** As the system would say it, for example `ELOOP` for a link that is not to be followed. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "FileProblem";
    this.code = code;
  }
}
