import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedSubject, OpenOptions } from "../../src/index.ts";

/** Opens something sound in which every call rejects with an error of the framework. */
export function throwingAlways<O extends OpenedSubject>(
  open: (options?: OpenOptions) => Promise<O>,
): (options?: OpenOptions) => Promise<O> {
  return async (options) => {
    const opened = await open(options);
    return new Proxy(opened, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (name === "another" && typeof member === "function") {
          return async () => throwing(await Reflect.apply(member, target, []));
        }
        return name === "store" || name === "provider" || name === "client" ? throwing(member) : member;
      },
    });
  };
}

function throwing(subject: unknown): unknown {
  if (typeof subject !== "object" || subject === null) {
    return subject;
  }
  return new Proxy(subject, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? () => failing(name) : member;
    },
  });
}

function failing(name: string | symbol): Promise<never> {
  const error = new AgentFrameworkError("unavailable", "dead");
  if (name === "stream") {
    // It gives something to iterate over, and no promise.
    throw error;
  }
  const failed = Promise.reject(error);
  // A clause may have given up on a call that it has made.
  failed.catch(() => {});
  return failed;
}
