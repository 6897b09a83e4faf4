/** Names the call that a request belongs to, and with it the user. */
export const CALL_ID_HEADER = "x-agent-foundry-call-id";

/** A store name or an item key as the one path segment that stands for it: base64url of its UTF-8, without padding. */
export function encodeSegment(name: string): string {
  return Buffer.from(name, "utf8").toString("base64url");
}

/** The name behind a segment, or `undefined` when no name is encoded like this. */
export function decodeSegment(segment: string): string | undefined {
  const name = Buffer.from(segment, "base64url").toString("utf8");
  // Buffer skips what is not base64url, so only the way back tells.
  return encodeSegment(name) === segment ? name : undefined;
}
