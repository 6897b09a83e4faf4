/** The tag of an answer to a write. Without one it is no answer of the service. */
export function tagOf(etag: string | undefined): string {
  if (etag === undefined || etag === "") {
    throw new Error("the answer has no ETag");
  }
  return quoted(etag);
}

/** Listings give tags without quotes, headers with them. */
export function quoted(etag: string | undefined): string {
  return `"${(etag ?? "").replaceAll('"', "")}"`;
}
