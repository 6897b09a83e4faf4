import { configurationError, isPlainObject } from "@agentfw/core";
import { HOOKS, type HookName } from "./clause.ts";
import type { HookReasons } from "./opened.ts";

/** What `open()` may give beside hooks. */
const OTHERS = ["store", "provider", "client", "close"];

/**
 * Refuses reasons for hooks that there are none of: one that is misspelled would explain nothing, and say nothing.
 *
 * @throws `configuration` naming the hook, and the known ones.
 */
export function assertReasons(cannot: unknown): asserts cannot is HookReasons | undefined {
  if (cannot === undefined) {
    return;
  }
  if (!isPlainObject(cannot)) {
    throw configurationError("cannot", "must be an object of reasons, by the names of hooks");
  }
  for (const [name, reason] of Object.entries(cannot)) {
    if (!isHook(name)) {
      throw configurationError(`cannot.${name}`, `is no hook of open(); known are ${HOOKS.join(", ")}`);
    }
    if (reason !== undefined && (typeof reason !== "string" || reason.trim() === "")) {
      throw configurationError(`cannot.${name}`, "must be a text that says why");
    }
  }
}

/**
 * Refuses what `open()` gave when it holds a member that the kit would never look at, or a hook that cannot be called.
 *
 * @throws `configuration` naming the member, and the known ones.
 */
export function assertMembers(opened: object): void {
  for (const [name, member] of Object.entries(opened)) {
    if (!isHook(name) && !OTHERS.includes(name)) {
      const known = [...OTHERS, ...HOOKS].join(", ");
      throw configurationError(`open().${name}`, `is nothing that the kit uses; known are ${known}`);
    }
    if (member !== undefined && typeof member !== "function" && (isHook(name) || name === "close")) {
      throw configurationError(`open().${name}`, "must be a function");
    }
  }
}

function isHook(name: string): name is HookName {
  return HOOKS.some((hook) => hook === name);
}
