/*
 * What the service allows, what it takes for granted, and what it counts in; see the README for what each is known from.
 */

/** The largest that the service takes. */
export const LIMITS = {
  /** Longest store name and item key, in UTF-16 units. */
  nameLength: 128,
  /** Largest value, in bytes of its UTF-8 JSON. */
  valueBytes: 1_048_576,
  tags: 16,
  tagValueLength: 256,
  descriptionLength: 1_024,
  ttlSeconds: 2_147_483_647,
  pageSize: 100,
} as const;

/** How many keys a page has where nobody says. */
export const DEFAULT_PAGE_SIZE = 20;

/** Idle life of an item where a store is created without saying otherwise: 30 days. */
export const DEFAULT_TTL_SECONDS = 2_592_000;

/** Stands for items that never expire. */
export const NEVER_EXPIRES = -1;

/** How many of the newest ids of a conversation are remembered. */
export const REMEMBERED_IDS = 1_000;

/** True for a text that a header carries as it is. */
export function isHeaderValue(text: unknown): text is string {
  return typeof text === "string" && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** When something was made and last changed, in ISO 8601, of the seconds that the service counts. */
export function timesOf(
  createdAt: unknown,
  updatedAt: unknown,
): { readonly createdAt: string | undefined; readonly updatedAt: string | undefined } {
  return { createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) };
}

function timeOf(seconds: unknown): string | undefined {
  const isTime = typeof seconds === "number" && Math.abs(seconds) < 8.64e12;
  return isTime ? new Date(seconds * 1_000).toISOString() : undefined;
}
