import { HistoryProvider, InMemoryHistoryProvider } from "@agentfw/core";
import { testContextProvider } from "../src/vitest.ts";
import { openContextWith } from "./support/reference-context.ts";
import { referenceHistoryStore } from "./support/reference-history.ts";

testContextProvider({
  name: "core, in the session",
  cannot: { breakBackend: "the messages are in the session", stallBackend: "the messages are in the session" },
  open: async () => ({
    provider: new InMemoryHistoryProvider(),
    another: async () => new InMemoryHistoryProvider(),
    wrongOptions: () => ({
      "an empty source id": () => new InMemoryHistoryProvider({ sourceId: "" }),
      "a condition that is not offered": () => new InMemoryHistoryProvider({ conditionalAppend: true }),
    }),
  }),
});

testContextProvider({
  name: "core, over a history store",
  open: openContextWith((world) => new HistoryProvider(referenceHistoryStore(world))),
});

testContextProvider({
  name: "core, over a history store with a window and a condition",
  open: openContextWith(
    (world) => new HistoryProvider(referenceHistoryStore(world), { maxMessages: 7, conditionalAppend: true }),
  ),
});

testContextProvider({
  name: "a clock, which tells every run another time",
  cannot: { breakBackend: "there is no backend" },
  open: async () => {
    let now = 0;
    return {
      provider: {
        sourceId: "clock",
        async beforeRun(context) {
          now += 1;
          context.addInstructions(`It is ${new Date(now).toISOString()}.`);
        },
      },
    };
  },
});

testContextProvider({
  name: "core, an audit",
  open: openContextWith((world) => new HistoryProvider(referenceHistoryStore(world), { load: false })),
});
