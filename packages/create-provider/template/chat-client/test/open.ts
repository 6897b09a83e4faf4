import type { HookReasons, OpenedChatClient, OpenOptions } from "@agentfw/provider-testing";
import { notWritten } from "../src/errors.ts";
import { __class__ } from "../src/index.ts";

/** What the client is called in reports. */
export const name = "__package__";

/** Why a hook is missing below, by its name. */
export const cannot: HookReasons = {};

/**
 * Opens a client and the service behind it: a small server on this machine that speaks the service's own protocol, is
 * told what to answer, and remembers what it was asked. The kit's README lists the hooks, and what each of them covers.
 */
export async function openChatClient({ timeoutMs }: OpenOptions = {}): Promise<OpenedChatClient> {
  const options = { url: "http://127.0.0.1:9", model: "test-model", timeoutMs };
  return {
    client: new __class__(options),
    answerNext: () => notWritten("answerNext"),
    failNext: () => notWritten("failNext"),
    interruptNext: () => notWritten("interruptNext"),
    lastRequest: () => notWritten("lastRequest"),
    requests: () => notWritten("requests"),
    breakBackend: () => notWritten("breakBackend"),
    healBackend: () => notWritten("healBackend"),
    wrongOptions: () => ({
      "no model": () => new __class__({ ...options, model: "" }),
      "no address": () => new __class__({ ...options, url: "nowhere" }),
      "no time": () => new __class__({ ...options, timeoutMs: 0 }),
    }),
  };
}
