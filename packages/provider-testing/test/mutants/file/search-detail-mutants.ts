import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant } from "../../support/mutant.ts";
import { busy, unlessCode } from "./detail-helpers.ts";

/** Defects of searches that only one look at them shows. */
export const searchDetailMutants: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("gives ten lines at least, whatever the limit", ["F24"], (store) => ({
    search: (pattern, options) => store.search(pattern, { ...options, ...(options?.limit === 3 ? { limit: 10 } : {}) }),
  })),
  fileMutant("searches only the files right below the directory that is named", ["F24"], (store) => ({
    search: async (pattern, options) => {
      const prefix = options?.directory === undefined ? undefined : `${options.directory}/`;
      const found = await store.search(pattern, options);
      return found.filter(({ path }) => prefix === undefined || !path.slice(prefix.length).includes("/"));
    },
  })),
  fileMutant("takes a high limit for none, which is 100", ["F24"], (store) => ({
    search: (pattern, options) =>
      store.search(pattern, (options?.limit ?? 0) > 500 ? { ...options, limit: undefined } : options),
  })),
  fileMutant("searches everywhere for a directory that is not there", ["F24"], (store) => ({
    search: async (pattern, options) => {
      const { directory = "", owner } = options ?? {};
      const isThere = directory === "" || (await store.list(directory, { owner })).length > 0;
      return store.search(pattern, isThere ? options : { ...options, directory: undefined });
    },
  })),
  fileMutant("finds nothing for a pattern that is none", ["F25"], (store) => ({
    search: async (pattern, options) => {
      const found = await unlessCode(store.search(pattern), "configuration", () => []);
      return options === undefined ? found : store.search(pattern, options);
    },
  })),
  fileMutant("takes a limit of 0 for none", ["F25"], (store) => ({
    search: (pattern, options) =>
      store.search(pattern, options?.limit === 0 ? { ...options, limit: undefined } : options),
  })),
  fileMutant("cuts lines off after 255 characters", ["F25"], (store) => ({
    search: async (pattern, options) =>
      (await store.search(pattern, options)).map((match) => ({ ...match, text: match.text.slice(0, 255) })),
  })),
  fileMutant(
    "says that its server is busy when a pattern looks around",
    ["F26"],
    (store) => ({
      search: async (pattern, options) => (pattern.includes("(?") ? busy() : store.search(pattern, options)),
    }),
    { rejects: "the server is busy" },
  ),
  fileMutant(
    "says that its server is busy when a file has a long line",
    ["F29"],
    (store, world) => ({
      search: async (pattern, options) => {
        const file = await world.inner.read("long-line.md");
        return file === undefined ? store.search(pattern, options) : busy();
      },
    }),
    { rejects: "the server is busy" },
  ),
];
