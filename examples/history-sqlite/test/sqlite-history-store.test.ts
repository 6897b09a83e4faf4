import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { describe, expect, it } from "vitest";
import { SqliteHistoryStore, type SqliteHistoryStoreOptions } from "../src/index.ts";
import { inFolder } from "./folder.ts";
import { openClient, outside } from "./open.ts";

const KEY = { owner: "ann", source: "history", session: "s1" };
const ONE = [{ id: "1", data: "{}" }];

describe("options", () => {
  it.each<[string, unknown]>([
    ["options", undefined],
    ["path", {}],
    ["path", { path: "" }],
    ["path", { path: ":memory:" }],
    ["path", { path: "a", client: createClient({ url: ":memory:" }) }],
    ["client", { client: {} }],
    ["timeoutMs", { path: "a", timeoutMs: 0 }],
    ["ttlSeconds", { path: "a", ttlSeconds: Number.NaN }],
    ["maxRecords", { path: "a", maxRecords: -1 }],
    ["maxRecordBytes", { path: "a", maxRecordBytes: 0 }],
    ["now", { path: "a", now: 3 }],
    ["url", { path: "a", url: "file:a" }],
  ])("refuses what cannot work, naming %s", (field, options) => {
    expect(() => new SqliteHistoryStore(options as SqliteHistoryStoreOptions)).toThrow(
      expect.objectContaining({ code: "configuration", message: expect.stringContaining(field) }),
    );
  });

  it("makes no file before the first call", async () => {
    await inFolder(async (path) => {
      const store = new SqliteHistoryStore({ path });
      expect(existsSync(path)).toBe(false);
      await store.read(KEY);
      expect(existsSync(path)).toBe(true);
      await store.close();
    });
  });

  it.each(["a b%20#?ü.db", "'; DROP TABLE x; --", "file:x?mode=memory", "😀.db", "-"])(
    "takes a file named %s",
    async (name) => {
      await inFolder(async (path) => {
        const store = new SqliteHistoryStore({ path });
        await store.append(KEY, ONE);
        await store.close();
        expect(existsSync(path)).toBe(true);
        const again = new SqliteHistoryStore({ path });
        expect((await again.read(KEY)).records).toEqual(ONE);
        await again.close();
      }, name);
    },
  );

  it("keeps hostile names and ids as they came", async () => {
    await inFolder(async (path) => {
      const names = [
        "%",
        "_",
        "*",
        "[a-z]",
        "a\0b",
        "a\0c",
        "\ud800",
        "\udfff",
        "'",
        '"',
        "\\",
        "A",
        "a",
        "é",
        "e\u0301",
        " ",
        "null",
      ];
      const store = new SqliteHistoryStore({ path });
      for (const name of names) {
        await store.append({ owner: name, source: name, session: name }, [{ id: name, data: JSON.stringify(name) }]);
      }
      await store.clear({ owner: "%", source: "%", session: "%" });
      for (const name of names.slice(1)) {
        expect((await store.read({ owner: name, source: name, session: name })).records).toEqual([
          { id: name, data: JSON.stringify(name) },
        ]);
      }
      const { items } = await store.list({ allOwners: true });
      expect(new Set(items.map(({ key }) => key.session))).toEqual(new Set(names.slice(1)));
      await store.close();
    });
  });
});

describe("a file that it cannot use", () => {
  it("is refused when it is no database, and stays as it is", async () => {
    await inFolder(async (path) => {
      writeFileSync(path, "Dear diary. ".repeat(1_000));
      const store = new SqliteHistoryStore({ path });
      await expect(store.read(KEY)).rejects.toMatchObject({ code: "configuration" });
      await expect(store.append(KEY, ONE)).rejects.toMatchObject({ code: "configuration" });
      rmSync(path);
      await store.append(KEY, ONE);
      await store.close();
    });
  });

  it("is refused when a later version laid it out", async () => {
    await inFolder(async (path) => {
      await prepared(path, "UPDATE agentfw_layout SET version = 2");
      const store = new SqliteHistoryStore({ path });
      await expect(store.read(KEY)).rejects.toMatchObject({ code: "unsupported" });
      await expect(store.append(KEY, ONE)).rejects.toMatchObject({ code: "unsupported" });
      await store.close();
    });
  });

  it("is refused when somebody else's table has the name of one of its own", async () => {
    await inFolder(async (path) => {
      await outside(path, async (client) => void (await client.execute("CREATE TABLE agentfw_records (mine)")));
      const store = new SqliteHistoryStore({ path });
      await expect(store.append(KEY, ONE)).rejects.toMatchObject({ code: "configuration" });
      await outside(path, async (client) => {
        const { rows } = await client.execute("SELECT name FROM sqlite_master WHERE name LIKE 'agentfw%'");
        expect(rows.map(({ name }) => name)).toEqual(["agentfw_records"]);
      });
      await store.close();
    });
  });

  it("is unavailable while its folder is missing, and used as soon as it is there", async () => {
    await inFolder(async (path) => {
      const store = new SqliteHistoryStore({ path: join(path, "h.db") });
      await expect(store.read(KEY)).rejects.toMatchObject({ code: "unavailable" });
      mkdirSync(path);
      await store.append(KEY, ONE);
      await store.close();
    });
  });

  it("is not made anew when it was moved away, nor written to where nobody finds it", async () => {
    await inFolder(async (path) => {
      const store = new SqliteHistoryStore({ path });
      await store.append(KEY, ONE);
      renameSync(path, `${path}.away`);
      await expect(store.read(KEY)).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.append(KEY, ONE)).rejects.toMatchObject({ code: "unavailable" });
      expect(existsSync(path)).toBe(false);
      renameSync(`${path}.away`, path);
      expect((await store.read(KEY)).records).toEqual(ONE);
      await store.close();
    });
  });

  it("is opened anew when another one was put in its place", async () => {
    await inFolder(async (path) => {
      const backup = `${path}.backup`;
      await prepared(backup, "SELECT 1");
      const store = new SqliteHistoryStore({ path });
      await store.append(KEY, ONE);
      rmSync(path);
      rmSync(`${path}-wal`);
      rmSync(`${path}-shm`);
      copyFileSync(backup, path);
      expect((await store.read(KEY)).records).toEqual([]);
      await store.append(KEY, ONE);
      await store.close();
      await outside(path, async (client) => {
        expect((await client.execute("SELECT count(*) AS n FROM agentfw_records")).rows[0]?.["n"]).toBe(1);
      });
    });
  });
});

describe("a client that was passed in", () => {
  it("is not written to when its file was exchanged, and used again when the file is back", async () => {
    await inFolder(async (path) => {
      const client = openClient(path);
      const store = new SqliteHistoryStore({ client });
      await store.append(KEY, ONE);
      renameSync(path, `${path}.away`);
      await prepared(`${path}.other`, "SELECT 1");
      renameSync(`${path}.other`, path);
      await expect(store.append(KEY, [{ id: "2", data: "{}" }])).rejects.toMatchObject({ code: "unavailable" });
      await expect(store.read(KEY)).rejects.toMatchObject({ code: "unavailable" });
      renameSync(`${path}.away`, path);
      expect((await store.read(KEY)).records).toEqual(ONE);
      await store.close();
      client.close();
    });
  });

  it("is refused when it has no file", async () => {
    const client = createClient({ url: ":memory:" });
    const store = new SqliteHistoryStore({ client });
    await expect(store.append(KEY, ONE)).rejects.toMatchObject({ code: "configuration" });
    client.close();
  });
});

describe("a database that others write to", () => {
  it("is waited for without blocking, and unavailable after timeoutMs", async () => {
    await inFolder(async (path) => {
      await prepared(path, "SELECT 1");
      await outside(path, async (client) => {
        const held = await client.transaction("write");
        const store = new SqliteHistoryStore({ path, timeoutMs: 300 });
        let ticks = 0;
        const timer = setInterval(() => {
          ticks += 1;
        }, 10);
        await expect(store.append(KEY, ONE)).rejects.toMatchObject({ code: "unavailable" });
        clearInterval(timer);
        expect(ticks).toBeGreaterThan(5);
        expect((await store.read(KEY)).records).toEqual([]);
        const together = await Promise.allSettled(["a", "b", "c"].map((id) => store.append(KEY, [{ id, data: "{}" }])));
        expect(together.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
        const waiting = store.append(KEY, ONE);
        await held.rollback();
        expect(await waiting).toMatchObject({ appended: 1 });
        await store.close();
      });
    });
  });

  it("gives up when it is told to while it waits, and writes nothing", async () => {
    await inFolder(async (path) => {
      await prepared(path, "SELECT 1");
      await outside(path, async (client) => {
        const held = await client.transaction("write");
        const store = new SqliteHistoryStore({ path });
        const controller = new AbortController();
        const reason = new Error("the user went away");
        setTimeout(() => controller.abort(reason), 50);
        await expect(store.append(KEY, ONE, { signal: controller.signal })).rejects.toBe(reason);
        await held.rollback();
        expect((await store.read(KEY)).records).toEqual([]);
        await store.close();
      });
    });
  });

  it("is laid out once by stores that begin at once", async () => {
    await inFolder(async (path) => {
      const stores = Array.from({ length: 8 }, () => new SqliteHistoryStore({ path }));
      await Promise.all(stores.map((store, index) => store.append(KEY, [{ id: String(index), data: "{}" }])));
      expect((await stores[0]?.read(KEY))?.records).toHaveLength(8);
      await Promise.all(stores.map((store) => store.close()));
    });
  });
});

describe("what it costs", () => {
  it("reads a page in one statement and from an index, in any conversation", async () => {
    await inFolder(async (path) => {
      const client = openClient(path);
      const statements: string[] = [];
      const counted = new Proxy(client, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== "function") {
            return member;
          }
          return (...args: unknown[]) => {
            const [first] = args as [{ sql: string } | string];
            statements.push(typeof first === "string" ? first : first?.sql);
            return member.apply(target, args) as unknown;
          };
        },
      });
      const store = new SqliteHistoryStore({ client: counted });
      await store.append(KEY, ONE);
      statements.length = 0;
      await store.read(KEY, { last: 20, withFirst: true });
      expect(statements).toHaveLength(1);
      const { rows } = await client.execute({
        sql: `EXPLAIN QUERY PLAN ${statements[0]}`,
        args: { owner: "", source: "", session: "", now: 0, cursor: null, limit: 21, first: 1 },
      });
      const plan = rows.map(({ detail }) => String(detail));
      expect(plan.filter((line) => /^SCAN agentfw|TEMP B-TREE/.test(line))).toEqual([]);
      await store.close();
      client.close();
    });
  });

  it("removes what has expired as others write", async () => {
    await inFolder(async (path) => {
      let now = 1_000_000;
      const store = new SqliteHistoryStore({ path, ttlSeconds: 10, now: () => now });
      for (const session of ["a", "b", "c"]) {
        await store.append({ ...KEY, session }, ONE);
      }
      now += 11_000;
      await store.append(KEY, ONE);
      await store.close();
      await outside(path, async (client) => {
        for (const table of ["agentfw_conversations", "agentfw_records", "agentfw_ids"]) {
          expect((await client.execute(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.["n"]).toBe(1);
        }
      });
    });
  });
});

describe("close", () => {
  it("waits for what was begun and refuses what comes later", async () => {
    await inFolder(async (path) => {
      const store = new SqliteHistoryStore({ path });
      const begun = store.append(KEY, ONE);
      await store.close();
      expect(await begun).toMatchObject({ appended: 1 });
      await expect(store.read(KEY)).rejects.toMatchObject({ code: "configuration" });
      await store.close();
    });
  });
});

/** Makes the database and changes it. */
async function prepared(path: string, sql: string): Promise<void> {
  const store = new SqliteHistoryStore({ path });
  await store.read(KEY);
  await store.close();
  await outside(path, async (client) => void (await client.execute(sql)));
}
