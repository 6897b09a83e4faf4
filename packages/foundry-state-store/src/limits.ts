import { isPlainObject } from "@agentfw/core";

/** The limits of the service, and what it takes for granted; see the README for what each is known from. */
export const LIMITS = {
  /** Longest store name and item key, in UTF-16 units. */
  nameLength: 128,
  /** Largest value, in bytes of its UTF-8 JSON. */
  valueBytes: 1_048_576,
  tags: 16,
  tagNameLength: 64,
  tagValueLength: 256,
  descriptionLength: 1_024,
  ttlSeconds: 2_147_483_647,
  pageSize: 100,
} as const;

/** Idle life of an item where a store is created without saying otherwise: 30 days. */
export const DEFAULT_TTL_SECONDS = 2_592_000;

/** Stands for items that never expire. */
export const NEVER_EXPIRES = -1;

/** What is wrong with a part of a request, told in the same words by the client and by the emulator. */
export interface Problem {
  /** The field, as the wire names it. */
  readonly param: string;
  readonly rule: string;
}

/** What is wrong with a store name or an item key. */
export function nameProblem(value: unknown, param: "name" | "key"): Problem | undefined {
  if (typeof value !== "string" || value === "") {
    return { param, rule: "must be a non-empty string" };
  }
  if (value.length > LIMITS.nameLength) {
    return { param, rule: `must have at most ${LIMITS.nameLength} characters` };
  }
  // It is sent as UTF-8, which has no lone surrogates: two of them would become one name.
  return value.isWellFormed() ? undefined : { param, rule: "must not hold lone surrogates" };
}

/** What is wrong with tags, for storing or for filtering. */
export function tagsProblem(tags: unknown): Problem | undefined {
  if (!isPlainObject(tags)) {
    return { param: "tags", rule: "must be an object of strings" };
  }
  const entries = Object.entries(tags);
  if (entries.length > LIMITS.tags) {
    return { param: "tags", rule: `must be at most ${LIMITS.tags}` };
  }
  for (const [name, value] of entries) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
      return { param: "tags", rule: `names must be 1 to ${LIMITS.tagNameLength} of A-Z, a-z, 0-9, "_", "." and "-"` };
    }
    if (typeof value !== "string" || value.length > LIMITS.tagValueLength || !value.isWellFormed()) {
      const rule = `must be a string of at most ${LIMITS.tagValueLength} characters without lone surrogates`;
      return { param: `tags.${name}`, rule };
    }
  }
  return undefined;
}

/** What is wrong with a description. */
export function descriptionProblem(value: unknown): Problem | undefined {
  const isGood = typeof value === "string" && value.length <= LIMITS.descriptionLength && value.isWellFormed();
  const rule = `must be a string of at most ${LIMITS.descriptionLength} characters`;
  return isGood ? undefined : { param: "description", rule };
}

/** What is wrong with the idle life of a store's items. */
export function ttlProblem(value: unknown): Problem | undefined {
  const isGood =
    value === NEVER_EXPIRES ||
    (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.ttlSeconds);
  const rule = `must be a whole number of seconds from 1 to ${LIMITS.ttlSeconds}, or ${NEVER_EXPIRES} for never`;
  return isGood ? undefined : { param: "item_ttl_seconds", rule };
}

/** What is wrong with a page size. */
export function limitProblem(value: unknown): Problem | undefined {
  const isGood = Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.pageSize;
  return isGood ? undefined : { param: "limit", rule: `must be a whole number from 1 to ${LIMITS.pageSize}` };
}

/** What is wrong with an order. */
export function orderProblem(value: unknown): Problem | undefined {
  return value === "asc" || value === "desc" ? undefined : { param: "order", rule: 'must be "asc" or "desc"' };
}
