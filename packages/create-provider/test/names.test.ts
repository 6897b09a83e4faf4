import { describe, expect, it } from "vitest";
import { CreateProviderError, nameProvider, providerKinds } from "../src/index.ts";

/** The error that a request is refused with. */
function refusal(request: { readonly kind?: string; readonly name?: string; readonly scope?: string }): unknown {
  try {
    // Callers in JavaScript can pass any kind.
    return Reflect.apply(nameProvider, undefined, [{ kind: "history", name: "sqlite", ...request }]);
  } catch (error) {
    return error;
  }
}

function expectRefusal(request: Parameters<typeof refusal>[0], argument: string): void {
  const error = refusal(request);
  expect(error).toBeInstanceOf(CreateProviderError);
  expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(new RegExp(`^${argument}: `)) });
}

describe("names are derived", () => {
  it("from the kind and the name", () => {
    expect(nameProvider({ kind: "history", name: "sqlite" })).toEqual({
      kind: "history",
      name: "sqlite",
      packageName: "agentfw-history-sqlite",
      folder: "agentfw-history-sqlite",
      provider: "history-sqlite",
      className: "SqliteHistoryStore",
      fileName: "sqlite-history-store",
      description: "Conversation history for agentfw, on sqlite.",
    });
  });

  it.each(["http", "@stream", "node", "a.b_c-d", "7z"])("also in the scope %s, which npm takes", (scope) => {
    expect(nameProvider({ kind: "state", name: "sqlite", scope }).packageName).toBe(
      `@${scope.replace("@", "")}/state-sqlite`,
    );
  });

  it.each(["acme", "@acme"])("and from the scope %s", (scope) => {
    const { packageName, folder } = nameProvider({ kind: "state", name: "sqlite", scope });
    expect({ packageName, folder }).toEqual({ packageName: "@acme/state-sqlite", folder: "state-sqlite" });
  });

  it.each([
    ["history", "SomeDb2HistoryStore", "some-db2-history-store"],
    ["state", "SomeDb2StateStore", "some-db2-state-store"],
    ["file", "SomeDb2FileStore", "some-db2-file-store"],
    ["context", "SomeDb2ContextProvider", "some-db2-context-provider"],
    ["chat-client", "SomeDb2ChatClient", "some-db2-chat-client"],
  ] as const)("for the kind %s: %s in %s.ts", (kind, className, fileName) => {
    expect(nameProvider({ kind, name: "some-db2" })).toMatchObject({ className, fileName });
  });
});

describe("what no package, file or class can be called is refused", () => {
  it.each([
    "",
    ".",
    "..",
    "../escape",
    "a/b",
    "a\\b",
    "/etc",
    "C:",
    "a b",
    "a\n",
    "a\u0000",
    "a\u001b[31m",
    "Sqlite",
    "sqlíte",
    "2fa",
    "-sqlite",
    "sqlite-",
    "my--sql",
    "my_sql",
    "my.sql",
    "@acme/sqlite",
    "$(id)",
    "`id`",
    "__proto__",
    "a".repeat(61),
  ])("the name %j", (name) => {
    expectRefusal({ name }, "name");
  });

  it.each([
    ["history", "history-lmdb", "lmdb"],
    ["history", "lmdb-history", "lmdb"],
    ["history", "lmdb-history-store", "lmdb"],
    ["history", "agentfw-history-lmdb", "lmdb"],
    ["history", "agentfw-my-lmdb", "my-lmdb"],
    ["history", "history", "sqlite"],
    ["history", "historydb-history", "historydb"],
    ["state", "level-state", "level"],
    ["file", "file-store-level", "level"],
    ["context", "wiki-context-provider", "wiki"],
    ["chat-client", "some-chat-client", "some"],
    ["chat-client", "some-chat", "some"],
  ])(
    "for the kind %s the name %s, which says the kind or the project again: %s is proposed",
    (kind, name, proposed) => {
      expectRefusal({ kind, name }, "name");
      expect(String(refusal({ kind, name }))).toContain(`as in "${proposed}"`);
      // What is proposed is taken, or the proposal is none.
      expect(refusal({ kind, name: proposed })).toMatchObject({ name: proposed });
    },
  );

  it.each([
    ["history", "prehistory"],
    ["history", "historydb"],
    ["history", "profile"],
    ["file", "single-filer"],
    ["state", "history-of-art"],
  ])("but for the kind %s not the name %s, which only holds the letters", (kind, name) => {
    expect(refusal({ kind, name })).toMatchObject({ kind, name });
  });

  it.each([
    "",
    "@",
    "..",
    "../x",
    "a/b",
    "Acme",
    ".acme",
    "_acme",
    "@@acme",
    "a b",
    "a\n",
    "node_modules/",
    "node_modules",
    "@node_modules",
    "favicon.ico",
    "@favicon.ico",
    "-acme",
    "~acme",
    "acme!",
    "%40acme",
    " acme",
    "acmé",
    "a".repeat(101),
  ])("the scope %j", (scope) => {
    expectRefusal({ scope }, "scope");
  });

  it.each(["", "redis", "History", "toString", "__proto__", "constructor", "history "])("the kind %j", (kind) => {
    expectRefusal({ kind }, "kind");
    expect(String(refusal({ kind }))).toContain(providerKinds.join(", "));
  });

  it("and shown without what would move the cursor or fill the screen", () => {
    expect(String(refusal({ name: `\u001b[2J${"x".repeat(5_000)}` }))).toMatch(/^[\x20-\x7e…]{1,300}$/);
  });
});
