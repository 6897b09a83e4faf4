import { configurationError } from "../errors.ts";

/** Refuses a condition that no etag can meet. @throws `configuration` */
export function assertIfMatch(ifMatch: unknown): asserts ifMatch is string | undefined {
  if (ifMatch !== undefined && typeof ifMatch !== "string") {
    throw configurationError("ifMatch", 'must be an etag, or "*"');
  }
}
