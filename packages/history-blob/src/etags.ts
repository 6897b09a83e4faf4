/**
 * The tag of an answer, as a condition takes it: listings give tags without quotes, headers with them. An answer without one
 * is none of the service's.
 */
export function tagOf(etag: string | undefined): string {
  if (!etag) {
    throw new Error("the answer has no ETag");
  }
  return `"${etag.replaceAll('"', "")}"`;
}
