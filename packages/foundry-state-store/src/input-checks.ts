import { assertName, configurationError, type Tags } from "@agentfw/core";
import { assertTags, assertWithin } from "@agentfw/core/backend";
import { LIMITS, NEVER_EXPIRES } from "./limits.ts";

/*
 * What the service does not take, refused by the client before anything is sent, and by the emulator in the service's place.
 * Each throws `configuration`, whose message begins with the field.
 */

/** Refuses what is no store name or item key. */
export function assertServiceName(value: unknown, field: string): asserts value is string {
  assertName(value, field);
  assertText(value, field, LIMITS.nameLength);
}

/** Refuses tags for storing or for filtering that are none. */
export function assertServiceTags(tags: unknown): asserts tags is Tags {
  assertTags(tags);
  const entries = Object.entries(tags);
  if (entries.length > LIMITS.tags || !entries.every(([name]) => /^[\w.-]{1,64}$/.test(name))) {
    throw configurationError(
      "tags",
      `must be at most ${LIMITS.tags}, with names of 1 to 64 of A-Z, a-z, 0-9, "_", ".", "-"`,
    );
  }
  for (const [name, value] of entries) {
    assertText(value, `tags.${name}`, LIMITS.tagValueLength);
  }
}

/** Refuses what is no description. */
export function assertDescription(value: unknown): asserts value is string {
  assertText(value, "description", LIMITS.descriptionLength);
}

/** Refuses what is no idle life of a store's items. */
export function assertItemTtl(value: unknown, field: string): asserts value is number {
  const isLife = Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.ttlSeconds;
  if (!isLife && value !== NEVER_EXPIRES) {
    throw configurationError(field, `must be 1 to ${LIMITS.ttlSeconds} whole seconds, or ${NEVER_EXPIRES} for never`);
  }
}

/** Refuses what is no page size. */
export function assertPageSize(value: unknown, field: string): asserts value is number {
  assertWithin(value, field, 1, LIMITS.pageSize);
}

function assertText(value: unknown, field: string, maxLength: number): asserts value is string {
  // It is sent as UTF-8, which has no lone surrogates: two of them would become one.
  if (typeof value !== "string" || value.length > maxLength || !value.isWellFormed()) {
    throw configurationError(field, `must be at most ${maxLength} characters, without lone surrogates`);
  }
}
