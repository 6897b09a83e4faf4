/**
 * Why no project was made.
 *
 * - `configuration`: what was asked for can never work; the message names the argument and the rule.
 * - `exists`: something is where the project would go. Nothing was changed.
 * - `unwritable`: the file system refused; what was written before that is still there.
 */
export type CreateProviderErrorCode = "configuration" | "exists" | "unwritable";

/** The one error of this package. Tell errors apart by `code`. */
export class CreateProviderError extends Error {
  readonly code: CreateProviderErrorCode;

  constructor(code: CreateProviderErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = "CreateProviderError";
    this.code = code;
  }
}
