/** An answer that lacks what the service always says, so that it may be none of the service's, or not all of it. */
export class IncompleteAnswer extends Error {}

/**
 * The tag of an answer, as a condition takes it: listings give tags without quotes, headers with them.
 *
 * @throws IncompleteAnswer where there is none
 */
export function tagOf(etag: string | undefined): string {
  if (!etag) {
    throw new IncompleteAnswer("the answer has no ETag");
  }
  return `"${etag.replaceAll('"', "")}"`;
}
