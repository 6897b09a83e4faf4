import { describe, expect, test } from "vitest";
import { schemaSql } from "../src/index.ts";
import { freshSchema, grants, keysOf, named, newRole, openPool, openStore, rejection } from "./support/postgres.ts";

describe("the tables", () => {
  test("are made by the first call, in a schema of any name", async () => {
    for (const schema of [`o"'; DROP TABLE x; --${freshSchema()}`, `é $agentfw$ \\ ${freshSchema()}`, freshSchema()]) {
      const store = openStore({ schema });
      await store.create("a", "{}");
      await store.verifySchema();
      expect(await keysOf(store)).toEqual(["a"]);
      await openPool().query(`DROP SCHEMA "${schema.replaceAll('"', '""')}" CASCADE`);
    }
  });

  test("are made again when they were dropped, at the next call but one", async () => {
    const schema = freshSchema();
    const store = openStore({ schema });
    await store.set("a", "{}");
    await openPool().query(`DROP SCHEMA "${schema}" CASCADE`);
    expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
    expect(await store.get("a")).toBeUndefined();
  });

  test("that are there without their version are kept, and the version is noted", async () => {
    const schema = freshSchema();
    const first = openStore({ schema });
    await first.set("a", "{}");
    const pool = openPool();
    for (const loss of [`DELETE FROM ${named(schema, "layout")}`, `DROP TABLE ${named(schema, "layout")}`]) {
      await pool.query(loss);
      const second = openStore({ schema });
      expect(await second.get("a")).toBeDefined();
      expect((await pool.query(`SELECT version FROM ${named(schema, "layout")}`)).rows).toEqual([{ version: 1 }]);
    }
  });

  test("of a later layout are left alone", async () => {
    const schema = freshSchema();
    await openStore({ schema }).create("a", "{}");
    await openPool().query(`INSERT INTO ${named(schema, "layout")} (version) VALUES (2)`);
    const later = openStore({ schema });
    expect(await rejection(later.set("b", "{}"))).toMatchObject({ code: "unsupported" });
    expect(await rejection(later.verifySchema())).toMatchObject({ code: "unsupported" });
  });

  test("of another shape are refused by name, and stay as they are", async () => {
    const pool = openPool();
    for (const [name, columns] of [
      ["tag", "k uuid, text text"],
      ["item", "k uuid PRIMARY KEY, owner_key uuid, expires_hour integer"],
      ["tag", "t uuid NOT NULL, seq integer NOT NULL, k uuid NOT NULL, PRIMARY KEY (t, seq)"],
      ["tag", "t uuid NOT NULL, seq bigint NOT NULL, k uuid NOT NULL"],
    ] as const) {
      const schema = freshSchema();
      await pool.query(`CREATE SCHEMA "${schema}"; CREATE TABLE ${named(schema, name)} (${columns})`);
      const store = openStore({ schema });
      for (const call of [() => store.set("a", "{}"), () => store.get("a")]) {
        expect(await rejection(call())).toMatchObject({ code: "configuration" });
      }
      const { rows } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
      expect(rows).toEqual([{ tablename: `state_${name}` }]);
    }
  });

  test("a failed attempt to make them is not remembered", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const store = openStore({ connectionString, schema });
    expect(await rejection(store.set("a", "{}"))).toMatchObject({ code: "unauthorized" });
    await openPool().query(`CREATE SCHEMA "${schema}"; GRANT USAGE, CREATE ON SCHEMA "${schema}" TO "${role}"`);
    expect(await store.create("a", "{}")).toMatchObject({ etag: expect.any(String) });
  });
});

describe("a team that owns its schema", () => {
  test("applies schemaSql, once or again, and the store makes nothing", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const store = openStore({ connectionString, schema, autoMigrate: false });
    const error = await rejection(store.set("a", "{}"));
    expect(error).toMatchObject({ code: "configuration" });
    expect(error.message).toContain("schemaSql()");
    expect(await rejection(store.verifySchema())).toMatchObject({ code: "configuration" });
    const admin = openPool();
    await admin.query(schemaSql({ schema }));
    await admin.query(schemaSql({ schema }));
    expect(await rejection(store.set("a", "{}"))).toMatchObject({ code: "unauthorized" });
    await admin.query(grants(schema, role));
    await store.verifySchema();
    const { etag } = await store.create("a", "{}", { owner: "alice", tags: { kind: "x" } });
    await store.set("a", '{"b":1}', { owner: "alice", tags: { kind: "y" }, ifMatch: etag });
    expect(await keysOf(store, { owner: "alice", tags: { kind: "y" } })).toEqual(["a"]);
    expect(await store.erase({ owner: "alice" })).toEqual({ items: 1 });
    expect(await store.deleteExpired()).toEqual({ items: 0 });
  });

  test("is told by schemaSql of a table that is another one, before a version is noted", async () => {
    const schema = freshSchema();
    const admin = openPool();
    await admin.query(`CREATE SCHEMA "${schema}"; CREATE TABLE ${named(schema, "tag")} (text text)`);
    await expect(admin.query(schemaSql({ schema }))).rejects.toThrow("must have the columns");
    const { rows } = await admin.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
    expect(rows).toEqual([{ tablename: "state_tag" }]);
  });

  test("has a role that may not create, also with autoMigrate", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    await openStore({ schema }).create("a", "{}");
    await openPool().query(grants(schema, role));
    expect(await openStore({ connectionString, schema }).get("a")).toBeDefined();
  });

  test.each([
    ["a right is missing", 'REVOKE DELETE ON {tag} FROM "{role}"', "unauthorized", "DELETE"],
    ["the schema may not be used", 'REVOKE USAGE ON SCHEMA "{schema}" FROM "{role}"', "unauthorized", ""],
    ["a column is missing", "ALTER TABLE {item} DROP COLUMN value", "configuration", "value text"],
    ["a key is missing", "ALTER TABLE {tag} DROP CONSTRAINT state_tag_pkey", "configuration", "t,seq"],
    ["an index is missing", 'DROP INDEX "{schema}".state_item_expiry', "configuration", "expires_hour"],
    ["a function is missing", 'DROP FUNCTION "{schema}".state_put_v1', "configuration", "state_put_v1"],
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
      item: named(schema, "item"),
      tag: named(schema, "tag"),
    };
    await admin.query(change.replace(/\{(\w+)\}/g, (_all, name) => parts[name] ?? ""));
    const error = await rejection(store.verifySchema());
    expect(error.code).toBe(code);
    expect(error.message).toContain(detail);
  });

  test.each([
    [{ schema: "" }, "schema"],
    [{ schema: "é".repeat(32) }, "schema"],
    [{ partitions: 2 }, "partitions"],
    [{ tables: "x" }, "tables"],
    [5, "options"],
  ])("is told what is wrong with %o", (options, field) => {
    expect(() => Reflect.apply(schemaSql, undefined, [options])).toThrow(field);
  });
});
