import type { HookReasons, OpenedContextProvider } from "@agentfw/provider-testing";
import { __class__ } from "../src/index.ts";

/** What the provider is called in reports. */
export const name = "__package__";

/** Why a hook is missing below, by its name: `{ breakBackend: "there is no backend" }`. */
export const cannot: HookReasons = {};

/**
 * Opens a provider that sees nothing another call left behind. Offer as many hooks as you can beside it; the kit's README
 * lists them, and what each of them covers.
 */
export async function openContextProvider(): Promise<OpenedContextProvider> {
  return {
    provider: new __class__(),
    another: async () => new __class__(),
    wrongOptions: () => ({
      "an empty source id": () => new __class__({ sourceId: "" }),
      "an option that there is none of": () => Reflect.construct(__class__, [{ sourceID: "x" }]),
    }),
  };
}
