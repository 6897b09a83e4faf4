import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant, queue } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import { lookThenWrite, withPaths } from "./helpers.ts";

/** Defects of files and their texts. */
const fileDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("comes from a later contract", ["F01"], () => JSON.parse('{"contractVersion":2}'), {
    rejects: "contract version 2",
  }),
  fileMutant("reads an unknown file as an empty text", ["F02"], (store) => ({
    read: async (path, options) => (await store.read(path, options)) ?? { text: "", etag: "0" },
  })),
  fileMutant("says that a directory exists", ["F02"], (store) => ({
    exists: async (path, options) =>
      (await store.exists(path, options)) || (await store.list(path, options)).length > 0,
  })),
  fileMutant("makes all line breaks alike", ["F03"], (store) => ({
    write: (path, text, options) =>
      store.write(path, typeof text === "string" ? text.replace(/\r\n?/g, "\n") : text, options),
  })),
  fileMutant("adds a line break at the end", ["F03"], (store) => ({
    write: (path, text, options) => store.write(path, text.endsWith("\n") ? text : `${text}\n`, options),
  })),
  fileMutant("drops a byte order mark", ["F03"], (store) => ({
    read: async (path, options) => {
      const file = await store.read(path, options);
      return file && { ...file, text: file.text.replace(/^\ufeff/, "") };
    },
  })),
  fileMutant("writes what is no text as the text of it", ["F04"], (store) => ({
    write: (path, text, options) => store.write(path, String(text).toWellFormed(), options),
  })),
  fileMutant("empties the file before it looks at the text", ["F04"], (store) => ({
    write: async (path, text, options) => {
      if (await store.exists(path, { owner: options?.owner })) {
        await store.write(path, "", { owner: options?.owner });
      }
      return store.write(path, text, options);
    },
  })),
  fileMutant("deletes a directory with all that is in it", ["F05"], (store) => ({
    delete: async (path, options) => {
      const below = await store.list(path, options);
      await Promise.all(below.map((one) => store.delete(one, options)));
      return (await store.delete(path, options)) || below.length > 0;
    },
  })),
  fileMutant("lists by the beginning of the name", ["F06"], (store) => ({
    list: async (directory, options) => {
      await store.list(directory, options);
      return (await store.list("", options)).filter((path) => path.startsWith(directory));
    },
  })),
  fileMutant("lists only the files right below a directory", ["F06"], (store) => ({
    list: async (directory, options) => {
      const depth = directory === "" ? 1 : directory.split("/").length + 1;
      return (await store.list(directory, options)).filter((path) => path.split("/").length === depth);
    },
  })),
  fileMutant("lists in the order in which files were written", ["F06"], (store) => ({
    list: async (directory, options) => (await store.list(directory, options)).reverse(),
  })),
  fileMutant("lists an etag that it made from the text", ["F37"], (store) => ({
    listEntries: async (directory, options) => {
      const paths = (await store.list(directory, options)) ?? [];
      const texts = await Promise.all(paths.map((path) => store.read(path, options)));
      return paths.map((path, index) => ({ path, etag: `${texts[index]?.text}` }));
    },
  })),
  fileMutant("lists the etags that it saw first", ["F37"], (store) => {
    const first = new Map<string, string>();
    return {
      listEntries: async (directory, options) => {
        const entries = (await store.listEntries?.(directory, options)) ?? [];
        return entries.map(({ path, etag }) => {
          first.set(path, first.get(path) ?? etag);
          return { path, etag: first.get(path) ?? etag };
        });
      },
    };
  }),
  fileMutant("decodes percent signs in names", ["F07"], (store) => withPaths(store, decoded), {
    rejects: "path: segments must",
  }),
  fileMutant("hides files whose names begin with a dot", ["F07"], (store) => ({
    list: async (directory, options) =>
      (await store.list(directory, options)).filter((path) => !path.split("/").some((name) => name.startsWith("."))),
  })),
  fileMutant("keeps the path of the current call on the instance", ["F08"], (store) => {
    let current = "";
    return {
      write: async (path, text, options) => {
        current = path;
        await turn();
        return store.write(current, text, options);
      },
    };
  }),
];

/** Defects of conditional and atomic writes. */
const conditionDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("makes its etag from the text", ["F09"], (store) => ({
    write: async (path, text, options) => {
      await store.write(path, text, options);
      return { etag: `hash of ${text.length}` };
    },
    read: async (path, options) => {
      const file = await store.read(path, options);
      return file && { ...file, etag: `hash of ${file.text.length}` };
    },
  })),
  fileMutant("ignores ifMatch", ["F10", "F12"], (store) => ({
    write: (path, text, options) => store.write(path, text, { ...options, ifMatch: undefined }),
  })),
  fileMutant("ignores ifNoneMatch", ["F11", "F12"], (store) => ({
    write: (path, text, options) => store.write(path, text, { ...options, ifNoneMatch: undefined }),
  })),
  fileMutant("looks before it writes, not while it writes", ["F12"], (store) => ({ write: lookThenWrite(store) }), {
    spares: ["F10", "F11"],
  }),
  fileMutant(
    "writes under a lock inside the process",
    ["F13"],
    (store) => {
      const inOrder = queue();
      const write = lookThenWrite(store);
      return { write: (path, text, options) => inOrder(() => write(path, text, options)) };
    },
    { spares: ["F12"] },
  ),
  fileMutant(
    "empties the file, then writes the text",
    ["F14"],
    (store) => ({
      write: async (path, text, options) => {
        const { etag } = await store.write(path, text.slice(0, text.length / 2), options);
        await turn();
        return store.write(path, text, { ...options, ifNoneMatch: undefined, ifMatch: etag });
      },
    }),
    { spares: ["F02", "F10"] },
  ),
  fileMutant(
    "deletes the old file before it writes the new one",
    ["F14"],
    (store) => ({
      write: async (path, text, options) => {
        if (options?.ifMatch === undefined && options?.ifNoneMatch === undefined) {
          await store.delete(path, { owner: options?.owner });
        }
        return store.write(path, text, options);
      },
    }),
    { spares: ["F02", "F10", "F12"] },
  ),
  fileMutant("keeps files in a cache that only its own writes empty", ["F15"], (store) => {
    const cache = new Map<string, ReturnType<typeof store.read>>();
    return {
      read: (path, options) => {
        const file = cache.get(path) ?? store.read(path, options);
        cache.set(path, file);
        return file;
      },
      write: (path, text, options) => {
        cache.clear();
        return store.write(path, text, options);
      },
    };
  }),
  fileMutant("keeps names without regard to case", ["F16"], (store) => withPaths(store, (path) => path.toLowerCase())),
  fileMutant("normalizes the Unicode form of names", ["F16"], (store) =>
    withPaths(store, (path) => (path.isWellFormed() ? path.normalize("NFC") : path)),
  ),
  fileMutant("keeps a file beside a directory of the same name", ["F17"], (store) =>
    withPaths(
      store,
      (path) =>
        /^[a-z/]+$/.test(path) && !path.includes("//") && !/^\/|\/$/.test(path) ? path.replaceAll("/", "⁄") : path,
      (path) => path.replaceAll("⁄", "/"),
    ),
  ),
  fileMutant("does not say which etag is current", ["F10", "F11"], (store) => ({
    write: (path, text, options) =>
      store.write(path, text, options).catch((error: unknown) => {
        throw error instanceof AgentFrameworkError && error.code === "conflict"
          ? new AgentFrameworkError("conflict", "conflict")
          : error;
      }),
  })),
];

/** Every defect of files and of writing them. */
export const fileAndConditionMutants: readonly Mutant<OpenedFileStore>[] = [...fileDefects, ...conditionDefects];

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
