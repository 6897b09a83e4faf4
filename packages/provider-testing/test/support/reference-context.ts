import { type ContextProvider, HistoryProvider } from "@agentfw/core";
import type { OpenedContextProvider, OpenOptions, WrongOptions } from "../../src/index.ts";
import { HistoryWorld, referenceHistoryStore } from "./reference-history.ts";

/** A provider that can do everything the kit asks for, over a store of its own world. */
export function referenceContextProvider(world: HistoryWorld): Required<ContextProvider> {
  const history = new HistoryProvider(referenceHistoryStore(world));
  return {
    sourceId: history.sourceId,
    loadsHistory: true,
    async beforeRun(context) {
      await history.beforeRun(context);
      context.addInstructions("Mind what was said before.");
      context.addTools([{ name: "recall", description: "Recalls.", parameters: { type: "object", properties: {} } }]);
    },
    afterRun: (context) => history.afterRun(context),
    persist: (context) => history.persist(context),
    claim: (context, answers) => history.claim(context, answers),
    conversationPlace: (session) => history.conversationPlace(session),
  };
}

/** Opens providers that `make` builds over a world of their own. */
export function openContextWith(
  make: (world: HistoryWorld) => ContextProvider,
  wrongOptions: () => WrongOptions = refused,
): (options?: OpenOptions) => Promise<OpenedContextProvider> {
  return async (options = {}) => {
    const world = new HistoryWorld({}, options);
    world.timeoutMs = options.timeoutMs ?? 5_000;
    const { breakBackend, stallBackend, healBackend } = world.hooks;
    return {
      provider: make(world),
      another: async () => make(world),
      breakBackend,
      stallBackend,
      healBackend,
      wrongOptions,
    };
  };
}

function refused(): WrongOptions {
  const store = referenceHistoryStore(new HistoryWorld({}, {}));
  return {
    "an empty source id": () => new HistoryProvider(store, { sourceId: "" }),
    "no window": () => new HistoryProvider(store, { maxMessages: 0 }),
  };
}
