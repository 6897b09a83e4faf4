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

/** Sets an own property whatever its name; plain assignment of `__proto__` would change the prototype instead. */
function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/**
 * A deep copy of `value` that holds JSON only.
 *
 * `undefined` members are left out, `undefined` in an array becomes `null`, a `Date` becomes its ISO text.
 *
 * @param path Names `value` in the error, for example `state`.
 * @throws `configuration` naming the path of what JSON cannot hold: NaN, infinities, bigint, symbols, functions, cycles,
 * invalid dates, and instances of classes (Map, Set, typed arrays and the caller's own); also of what is nested more
 * than 1,000 levels deep, which JSON itself would run out of stack for.
 */
export function toJson(value: unknown, path: string): Json {
  return copy(value, path, undefined);
}

/** The objects around the current one, to notice cycles without remembering every object ever seen. */
interface Ancestor {
  readonly value: object;
  readonly parent: Ancestor | undefined;
}

function copy(value: unknown, path: string, parent: Ancestor | undefined): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) {
        throw configurationError(path, `${value} is not a JSON number`);
      }
      return value;
    case "object":
      return value === null ? null : copyObject(value, path, parent);
    default:
      throw configurationError(path, `a ${typeof value} cannot be stored as JSON`);
  }
}

function copyObject(value: object, path: string, parent: Ancestor | undefined): Json {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) {
      throw configurationError(path, "an invalid date cannot be stored as JSON");
    }
    return value.toISOString();
  }
  let levels = 1_000;
  for (let ancestor = parent; ancestor !== undefined; ancestor = ancestor.parent) {
    levels -= 1;
    if (ancestor.value === value || levels === 0) {
      throw configurationError(path, `${levels === 0 ? "too deep a nesting" : "a cycle"} cannot be stored as JSON`);
    }
  }
  const self: Ancestor = { value, parent };
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) =>
      item === undefined ? null : copy(item, `${path}[${index}]`, self),
    );
  }
  if (!isPlainObject(value)) {
    throw configurationError(path, `an instance of ${className(value)} cannot be stored as JSON`);
  }
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) {
      setOwn(result, key, copy(member, `${path}.${key}`, self));
    }
  }
  return result;
}

function className(value: object): string {
  return typeof value.constructor === "function" ? value.constructor.name || "a class" : "a class";
}

/** A deep copy of data that is JSON already. */
export function cloneJson(value: Json): Json {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(cloneJson);
  }
  const result: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    setOwn(result, key, cloneJson(member));
  }
  return result;
}
