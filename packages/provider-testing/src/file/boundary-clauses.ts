import type { FileStore } from "@agentfw/core";
import { expectClosed } from "../closing.ts";
import { ensure, expectAbort, expectCode, present, same } from "../expect.ts";
import { duringOutage, expectOutage, type NamedCalls, openWithDeadline } from "../outage.ts";
import {
  type CallBeforeOptions,
  expectMembersRefused,
  expectOptionsRefused,
  NO_NUMBERS,
  NO_OWNERS,
  NO_TEXTS,
} from "../wrong-options.ts";
import { expectFile, expectListed, type FileClause } from "./support.ts";

const SECRET = "c0ffee-secret-c0ffee";

const BROKEN = { hooks: ["breakBackend", "healBackend"] } as const;

/** Outages, callers that leave, and what is around the store. */
export const boundaryClauses: readonly FileClause[] = [
  {
    id: "F30",
    title: "a backend that is down makes every call reject, and never reads as no file",
    contract: "FileStore; HistoryStore 4",
    reason: "Notes that read as absent during an outage are written anew, over the old ones.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      await opened.store.write("a.md", "one");
      await duringOutage(opened, "breakBackend", () => expectOutage(everyCall(opened.store)));
    },
  },
  {
    id: "F31",
    title: "after an outage, also one at its first call, the same store works again",
    contract: "FileStore; HistoryStore 12",
    reason: "Nobody restarts every process because a server was down for a minute.",
    requires: BROKEN,
    async run(trial) {
      const opened = await openWithDeadline(trial);
      const { store } = opened;
      for (let outage = 0; outage < 2; outage += 1) {
        await duringOutage(opened, "breakBackend", () => expectOutage({ read: () => store.read("a.md") }));
        await store.write(`file-${outage}.md`, `text ${outage}`);
      }
      await expectFile(store, "file-0.md", "text 0", "what was written between the outages");
      await expectFile(store, "file-1.md", "text 1", "what was written after the outages");
    },
  },
  {
    id: "F32",
    title: "a backend that answers nothing makes every call settle within its deadline",
    contract: "FileStore; HistoryStore 13",
    reason: "A blackholed connection must not hang a run.",
    requires: { hooks: ["stallBackend", "healBackend"] },
    async run(trial) {
      const opened = await openWithDeadline(trial);
      await opened.store.write("a.md", "one");
      await duringOutage(opened, "stallBackend", () => expectOutage(everyCall(opened.store)));
      await opened.store.write("afterwards.md", "two");
      await expectFile(opened.store, "afterwards.md", "two", "after the backend answers again");
    },
  },
  {
    id: "F33",
    title: "a signal that is aborted already stops every call before it does anything",
    contract: "FileStore; HistoryStore 14",
    reason: "A user who went away must cost nothing more.",
    async run(trial) {
      const { store } = await trial.open();
      const { etag } = await store.write("a.md", "one");
      for (const [name, call] of Object.entries(everyCall(store, AbortSignal.abort()))) {
        await expectAbort(call(), `${name} with an aborted signal`);
      }
      same(await expectFile(store, "a.md", "one", "after aborted calls"), etag, "the etag after aborted calls");
      await expectListed(store, "", ["a.md"], "the files after aborted calls");
    },
  },
  {
    id: "F34",
    title: "close leaves a client that was passed in open",
    contract: "FileStore; HistoryStore 16",
    reason: "The application shares its client with everything else.",
    requires: { hooks: ["sharedClient"] },
    async run(trial) {
      const opened = await trial.open();
      const shared = await present(opened.sharedClient?.(), "sharedClient()");
      await shared.store.write("a.md", "one");
      await expectFile(shared.store, "a.md", "one", "a store over a client that was passed in");
      await shared.store.close?.();
      same(await shared.isClientOpen(), true, "the client works after the store's close()");
    },
  },
  {
    id: "F40",
    title: "a call after close is refused, and close can be called again",
    contract: "FileStore; HistoryStore 16",
    reason:
      "A store that opens again by itself keeps a program from ending, and one that answers nothing loses the files.",
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      await store.write("a.md", "one");
      await expectClosed(trial, store, everyCall(store));
      const other = await opened.another?.();
      if (other !== undefined) {
        await expectFile(other, "a.md", "one", "calls after close() change nothing");
        await expectListed(other, "", ["a.md"], "the files after calls behind close()");
      }
    },
  },
  {
    id: "F35",
    title: "error messages carry neither text nor owner",
    contract: "Secrets and trust",
    reason: "Errors go to logs, and to people who must not read the files.",
    async run(trial) {
      const { store } = await trial.open();
      const scope = { owner: SECRET };
      await store.write("a.md", SECRET, scope);
      const refused: NamedCalls = {
        "ifNoneMatch on a file": () => store.write("a.md", SECRET, { ...scope, ifNoneMatch: "*" }),
        "ifMatch on another version": () => store.write("a.md", SECRET, { ...scope, ifMatch: "no such etag" }),
        "a write under another spelling": () => store.write("A.md", SECRET, scope),
        "a write below a file": () => store.write("a.md/b", SECRET, scope),
        "a write outside of the root": () => store.write("../o", SECRET, scope),
        "a write of what is no text": () => store.write("a.md", `${SECRET}\ud83d`, scope),
        "a malformed pattern": () => store.search("(", scope),
      };
      for (const [name, call] of Object.entries(refused)) {
        const { message } = await expectCode(call(), name, "conflict", "configuration");
        ensure(!message.includes(SECRET), `${name}: an error message carries no text and no owner`);
      }
    },
  },
  {
    id: "F36",
    title: "options that are no object, and members of them of the wrong type, are refused by every call",
    contract: "FileStore; HistoryStore 14",
    reason: "A limit, a condition or an owner that was passed wrongly must not be taken for none.",
    async run(trial) {
      const { store, asOwner } = await trial.open();
      await store.write("a.md", "one");
      const every: readonly CallBeforeOptions[] = [
        ["read", "a.md"],
        ["write", "b.md", "two"],
        ["write", "a.md", "two"],
        ["delete", "a.md"],
        ["exists", "a.md"],
        ["list", ""],
        ["search", "o"],
        ...(store.listEntries === undefined ? [] : [["listEntries", ""] as const]),
      ];
      await expectOptionsRefused(store, every);
      for (const path of ["a.md", "b.md"]) {
        const conditions = { ifMatch: NO_TEXTS, ifNoneMatch: [...NO_TEXTS, "an etag"] };
        await expectMembersRefused(store, ["write", path, "two"], conditions);
      }
      await expectMembersRefused(store, ["search", "o"], {
        limit: NO_NUMBERS,
        timeoutMs: NO_NUMBERS,
        directory: NO_TEXTS,
      });
      // A store that derives the identity itself ignores the owner.
      for (const call of asOwner === undefined ? every : []) {
        await expectMembersRefused(store, call, { owner: NO_OWNERS });
      }
      await expectFile(store, "a.md", "one", "after refused calls");
      await expectListed(store, "", ["a.md"], "the files after refused calls");
    },
  },
];

function everyCall(store: FileStore, signal?: AbortSignal): NamedCalls {
  return {
    read: () => store.read("a.md", { signal }),
    "read of an unknown file": () => store.read("unknown.md", { signal }),
    write: () => store.write("a.md", "two", { signal }),
    "write of a new file": () => store.write("b.md", "two", { signal }),
    delete: () => store.delete("a.md", { signal }),
    exists: () => store.exists("a.md", { signal }),
    list: () => store.list("", { signal }),
    search: () => store.search("o", { signal }),
    ...(store.listEntries === undefined ? {} : { listEntries: async () => store.listEntries?.("", { signal }) }),
  };
}
