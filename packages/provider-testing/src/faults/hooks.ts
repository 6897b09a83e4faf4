import { assertObject, configurationError } from "@agentfw/core";
import type { BackendHooks, Opened } from "../opened.ts";
import type { FaultProxy } from "./fault-proxy.ts";

/** The hooks that a proxy can offer. */
export type FaultHooks = Required<BackendHooks> &
  Required<Pick<Opened, "loseNextReply" | "loseNextRequest">> &
  Pick<Opened, "duplicateNextRequest">;

/** Options of {@link faultHooks}. */
export interface FaultHooksOptions {
  /**
   * What is spoken through the proxies. With `http`, where a request stands by itself, `duplicateNextRequest` is
   * offered too. @default "tcp"
   */
  readonly protocol?: "tcp" | "http" | undefined;
}

/**
 * What an `open()` offers whose store reaches its backend through a proxy, to be spread into what it gives. With
 * several proxies, those before each node of a cluster say, an outage is one of all; a fault of one request waits in
 * each for the first that comes.
 *
 * @throws `configuration` for options that do not fit.
 */
export function faultHooks(proxy: FaultProxy | readonly FaultProxy[], options: FaultHooksOptions = {}): FaultHooks {
  assertObject(options, "options");
  const { protocol = "tcp" } = options;
  if (protocol !== "tcp" && protocol !== "http") {
    throw configurationError("protocol", 'must be "tcp" or "http"');
  }
  const proxies = [proxy].flat();
  const each = async (fault: (one: FaultProxy) => unknown) => {
    await Promise.all(proxies.map(fault));
  };
  return {
    breakBackend: () => each((one) => one.refuse()),
    stallBackend: () => each((one) => one.blackhole()),
    healBackend: () => each((one) => one.pass()),
    loseNextReply: () => each((one) => one.loseNextReply()),
    loseNextRequest: () => each((one) => one.loseNextRequest()),
    ...(protocol === "http" ? { duplicateNextRequest: () => each((one) => one.duplicateNextRequest()) } : {}),
  };
}
