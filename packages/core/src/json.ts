import { configurationError } from "./errors.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A plain object, as object literals and `JSON.parse` make them. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Deeper than this, JSON itself would run out of stack. */
const MAX_LEVELS = 1_000;

/** Cycles up to this length are noticed where they close; longer ones a little later, so that depth costs nothing. */
const NEAR = 8;

/** Where a value stands. Paths are spelled out only when something is wrong. */
interface Place {
  readonly value: unknown;
  readonly name: string | number;
  readonly parent: Place | undefined;
  readonly level: number;
  /** The ancestor at the last power of two, which every cycle meets (R. P. Brent, BIT 20, 1980). */
  readonly landmark: Place | undefined;
}

/**
 * A deep copy of `value` that holds JSON only.
 *
 * `undefined` members are left out, `undefined` in an array becomes `null`, a `Date` becomes its ISO text.
 *
 * @param path Names `value` in the error, for example `state`.
 * @throws `configuration` naming the path of what JSON cannot hold: NaN, infinities, bigint, symbols, functions, cycles,
 * invalid dates, and instances of classes (Map, Set, typed arrays and the caller's own); also of what is nested more
 * than 1,000 levels deep.
 */
export function toJson(value: unknown, path: string): Json {
  return copy({ value, name: path, parent: undefined, level: 0, landmark: undefined });
}

function copy(place: Place): Json {
  const { value } = place;
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // JSON has no negative zero.
      return Number.isFinite(value) ? value + 0 : refuse(place, String(value));
    case "object":
      return value === null ? null : copyObject(value, place);
    default:
      return refuse(place, `a ${typeof value}`);
  }
}

function copyObject(value: object, place: Place): Json {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? refuse(place, "an invalid date") : value.toISOString();
  }
  if (isInItself(place)) {
    return refuse(place, "a cycle");
  }
  if (place.level >= MAX_LEVELS) {
    return refuse(place, "too deep a nesting");
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, name) => (item === undefined ? null : copy(within(place, name, item))));
  }
  if (!isPlainObject(value)) {
    return refuse(place, `an instance of ${value.constructor?.name || "a class"}`);
  }
  const result: Record<string, Json> = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    // Most members are text, which needs no place of its own.
    if (typeof member === "string") {
      setOwn(result, name, member);
    } else if (member !== undefined) {
      setOwn(result, name, copy(within(place, name, member)));
    }
  }
  return result;
}

function within(parent: Place, name: string | number, value: unknown): Place {
  const { level, landmark } = parent;
  return { value, name, parent, level: level + 1, landmark: (level & (level - 1)) === 0 ? parent : landmark };
}

function isInItself({ value, parent, landmark }: Place): boolean {
  let ancestor = parent;
  for (let near = 0; ancestor !== undefined && near < NEAR; near += 1) {
    if (ancestor.value === value) {
      return true;
    }
    ancestor = ancestor.parent;
  }
  return landmark?.value === value;
}

function refuse(place: Place, what: string): never {
  throw configurationError(pathOf(place), `${what} cannot be stored as JSON`);
}

function pathOf({ name, parent }: Place): string {
  if (parent === undefined) {
    return String(name);
  }
  return pathOf(parent) + (typeof name === "number" ? `[${name}]` : `.${name}`);
}

/** Sets an own property whatever its name; plain assignment of `__proto__` would change the prototype instead. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** A deep copy of plain objects, arrays and bytes that are known to hold nothing else. */
export function copyPlain<T>(value: T): T;
export function copyPlain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(copyPlain);
  }
  if (value instanceof Uint8Array) {
    return value.slice();
  }
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) {
    if (typeof copy[name] === "object") {
      copy[name] = copyPlain(copy[name]);
    }
  }
  return copy;
}
