import { describe, expect, test } from "vitest";
import { schemaSql } from "../src/index.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { freshSchema, grants, named, newRole, openPool, openStore } from "./support/postgres.ts";

describe("the tables", () => {
  test("are made by the first call, in a schema of any name", async () => {
    for (const schema of [`o"'; DROP TABLE x; --${freshSchema()}`, `é $agentfw$ \\ ${freshSchema()}`, freshSchema()]) {
      const store = openStore({ schema });
      await store.append(conversation(), records("a", 2));
      await store.verifySchema();
      expect(idsOf((await store.read(conversation())).records)).toEqual(["a-0", "a-1"]);
      await openPool().query(`DROP SCHEMA "${schema.replaceAll('"', '""')}" CASCADE`);
    }
  });

  test("are made again when they were dropped, at the next call but one", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    await store.append(conversation(), records("a", 1));
    await openPool().query(`DROP SCHEMA "${schema}" CASCADE`);
    expect(await rejection(store.read(conversation()))).toMatchObject({ code: "configuration" });
    expect((await store.read(conversation())).version).toBe("");
  });

  test("that are there without their version are kept, and the version is noted", async () => {
    const schema = freshSchema();
    const first = openStore({ schema });
    await first.append(conversation(), records("a", 1));
    const pool = openPool();
    for (const loss of [`DELETE FROM ${named(schema, "layout")}`, `DROP TABLE ${named(schema, "layout")}`]) {
      await pool.query(loss);
      const second = openStore({ schema });
      expect((await second.read(conversation())).records).toHaveLength(1);
      expect((await pool.query(`SELECT version FROM ${named(schema, "layout")}`)).rows).toEqual([{ version: 1 }]);
    }
  });

  test("may be partitioned", async () => {
    const schema = freshSchema();
    const store = openStore({ schema, partitions: 3 });
    await Promise.all(Array.from({ length: 12 }, (_, n) => store.append(conversation(`s${n}`), records("a", 2))));
    await store.verifySchema();
    const { rows } = await openPool().query(
      `SELECT DISTINCT tableoid::regclass FROM ${named(schema, "record")} UNION SELECT DISTINCT tableoid::regclass FROM ${named(schema, "conversation")}`,
    );
    expect(rows.length).toBeGreaterThan(2);
    expect((await store.list({ owner: "owner-1" }, { limit: 5 })).items).toHaveLength(5);
  });

  test.each([undefined, 2])("carry what autovacuum needs (partitions: %s)", async (partitions) => {
    const schema = freshSchema();
    await openStore({ schema, partitions }).append(conversation(), records("a", 1));
    const { rows } = await openPool().query(
      `SELECT relname, reloptions FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'
       AND relname <> 'history_layout' ORDER BY relname`,
      [`"${schema}"`],
    );
    expect(rows).toHaveLength(2 * (partitions ?? 1));
    for (const { relname, reloptions } of rows) {
      // Half of each page is room for the next versions of its rows.
      const isOfConversations = relname.startsWith("history_conversation");
      expect(reloptions.includes("fillfactor=50")).toBe(isOfConversations);
      expect(reloptions.some((option: string) => option.startsWith("autovacuum_vacuum_"))).toBe(true);
    }
  });

  test("of a later layout are left alone", async () => {
    const schema = freshSchema();
    await openStore({ schema }).append(conversation(), records("a", 1));
    await openPool().query(`INSERT INTO ${named(schema, "layout")} (version) VALUES (2)`);
    const later = openStore({ schema });
    expect(await rejection(later.append(conversation(), records("b", 1)))).toMatchObject({ code: "unsupported" });
    expect(await rejection(later.verifySchema())).toMatchObject({ code: "unsupported" });
  });

  test("of another shape are refused by name, and stay as they are", async () => {
    const pool = openPool();
    for (const [name, columns] of [
      ["record", "k uuid, text text"],
      ["conversation", "k uuid PRIMARY KEY, owner_key uuid, expires_hour integer"],
      ["record", "k uuid NOT NULL, seq bigint NOT NULL, id text NOT NULL, data jsonb NOT NULL"],
      ["record", "k uuid NOT NULL, seq bigint NOT NULL, id text NOT NULL, data text NOT NULL, stamp bigint"],
    ] as const) {
      const schema = freshSchema();
      await pool.query(`CREATE SCHEMA "${schema}"; CREATE TABLE ${named(schema, name)} (${columns})`);
      const store = openStore({ schema });
      for (const call of [() => store.append(conversation(), records("a", 1)), () => store.read(conversation())]) {
        expect(await rejection(call())).toMatchObject({ code: "configuration" });
      }
      const { rows } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
      expect(rows).toEqual([{ tablename: `history_${name}` }]);
    }
  });

  test("a failed attempt to make them is not remembered", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const store = openStore({ connectionString, schema });
    expect(await rejection(store.append(conversation(), records("a", 1)))).toMatchObject({ code: "unauthorized" });
    await openPool().query(`CREATE SCHEMA "${schema}"; GRANT USAGE, CREATE ON SCHEMA "${schema}" TO "${role}"`);
    expect((await store.append(conversation(), records("a", 1))).appended).toBe(1);
  });
});

describe("a team that owns its schema", () => {
  test("applies schemaSql, once or again, and the store makes nothing", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const store = openStore({ connectionString, schema, autoMigrate: false });
    const error = await rejection(store.append(conversation(), records("a", 1)));
    expect(error).toMatchObject({ code: "configuration" });
    expect(error.message).toContain("schemaSql()");
    expect(await rejection(store.verifySchema())).toMatchObject({ code: "configuration" });
    const admin = openPool();
    await admin.query(schemaSql({ schema, partitions: 2 }));
    await admin.query(schemaSql({ schema, partitions: 2 }));
    expect(await rejection(store.append(conversation(), records("a", 1)))).toMatchObject({ code: "unauthorized" });
    await admin.query(grants(schema, role));
    await store.verifySchema();
    await store.append(conversation(), records("a", 2));
    await store.replace(conversation(), { fromId: "a-0", throughId: "a-0" }, records("b", 1));
    expect(idsOf((await store.read(conversation())).records)).toEqual(["b-0", "a-1"]);
    expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
    expect(await store.erase({ owner: "owner-1" })).toEqual({ conversations: 1, records: 3 });
  });

  test("is told by schemaSql of a table that is another one, before a version is noted", async () => {
    const schema = freshSchema();
    const admin = openPool();
    await admin.query(`CREATE SCHEMA "${schema}"; CREATE TABLE ${named(schema, "record")} (text text)`);
    await expect(admin.query(schemaSql({ schema }))).rejects.toThrow("must have the columns");
    const { rows } = await admin.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
    expect(rows).toEqual([{ tablename: "history_record" }]);
  });

  test("has a role that may not create, also with autoMigrate", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    await openStore({ schema }).append(conversation(), records("a", 1));
    await openPool().query(grants(schema, role));
    expect((await openStore({ connectionString, schema }).read(conversation())).records).toHaveLength(1);
  });

  test.each([
    ["a right is missing", 'REVOKE DELETE ON {record} FROM "{role}"', "unauthorized", "DELETE"],
    ["the schema may not be used", 'REVOKE USAGE ON SCHEMA "{schema}" FROM "{role}"', "unauthorized", ""],
    ["a column is missing", "ALTER TABLE {conversation} DROP COLUMN session", "configuration", "session"],
    ["a key is missing", "ALTER TABLE {record} DROP CONSTRAINT history_record_k_id_key", "configuration", "k,id"],
    [
      "the owners' index is missing",
      'DROP INDEX "{schema}".history_conversation_owner',
      "configuration",
      "owner_key,k",
    ],
    ["an index is missing", 'DROP INDEX "{schema}".history_conversation_expiry', "configuration", "expires_hour"],
    ["a function is missing", 'DROP FUNCTION "{schema}".history_replace_v1', "configuration", "history_replace_v1"],
  ])("hears from verifySchema when %s", async (_, change, code, detail) => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const admin = openPool();
    await admin.query(schemaSql({ schema }));
    await admin.query(grants(schema, role));
    const store = openStore({ connectionString, schema });
    await store.verifySchema();
    const parts: Record<string, string> = {
      role,
      schema,
      record: named(schema, "record"),
      conversation: named(schema, "conversation"),
    };
    await admin.query(change.replace(/\{(\w+)\}/g, (_all, name) => parts[name] ?? ""));
    const error = await rejection(store.verifySchema());
    expect(error.code).toBe(code);
    expect(error.message).toContain(detail);
  });

  test.each([
    [{ schema: "" }, "schema"],
    [{ schema: "é".repeat(32) }, "schema"],
    [{ partitions: 1 }, "partitions"],
    [{ partitions: 1.5 }, "partitions"],
    [{ tables: "x" }, "tables"],
    [5, "options"],
  ])("is told what is wrong with %o", (options, field) => {
    expect(() => Reflect.apply(schemaSql, undefined, [options])).toThrow(field);
  });
});
