/** The limits of the service, and what it takes for granted; see the README for what each is known from. */
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
