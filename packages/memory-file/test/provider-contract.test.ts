import { InMemoryFileStore } from "@agentfw/core";
import type { OpenedContextProvider, OpenOptions } from "@agentfw/provider-testing";
import { testContextProvider } from "@agentfw/provider-testing/vitest";
import { FileMemoryProvider, type FileMemoryProviderOptions } from "../src/index.ts";
import { openFiles } from "./support/contract.ts";

const WRONG = {
  "an option that there is none of": { scopes: "users/42" },
  "a scope that leads out": { scope: "../users" },
  "no source id": { sourceId: "" },
  "a part of an entry": { maxIndexEntries: 0.5 },
};

function wrongOptions(): Readonly<Record<string, () => unknown>> {
  const make = (options: object) => () => Reflect.construct(FileMemoryProvider, [new InMemoryFileStore(), options]);
  return Object.fromEntries(Object.entries(WRONG).map(([name, options]) => [name, make(options)]));
}

const CASES: readonly (readonly [name: string, options: FileMemoryProviderOptions])[] = [
  ["memories of the session", {}],
  ["memories of a scope", { scope: "users/42" }],
];

for (const [name, options] of CASES) {
  testContextProvider({
    name: `FileMemoryProvider, ${name}`,
    cannot: { stallBackend: "a file system cannot be made to hang from within a process" },
    open: async (given: OpenOptions = {}): Promise<OpenedContextProvider> => {
      const { store, another, close, breakBackend, healBackend } = await openFiles(given);
      await store.write("users/42/tea.md", "Likes tea.");
      return {
        provider: new FileMemoryProvider(store, options),
        another: async () => new FileMemoryProvider((await another?.()) ?? store, options),
        wrongOptions,
        ...(close && { close }),
        ...(breakBackend && { breakBackend }),
        ...(healBackend && { healBackend }),
      };
    },
  });
}
