import { startPgBouncer } from "@agentfw/test-servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { PostgresStateStore, schemaSql } from "../src/index.ts";
import { freshSchema, grants, keysOf, named, newRole, openPool, openStore, rejection } from "./support/postgres.ts";

/** Tables with the policies of the README, and a role that may use them. */
async function openTenants() {
  const { role, connectionString } = await newRole();
  const schema = freshSchema();
  const admin = openPool();
  await admin.query(schemaSql({ schema }));
  await admin.query(grants(schema, role));
  await admin.query(`
    ALTER TABLE ${named(schema, "item")} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${named(schema, "tag")} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON ${named(schema, "item")}
      USING (starts_with(owner, current_setting('app.tenant') || '/'));
    CREATE POLICY tenant ON ${named(schema, "tag")}
      USING (EXISTS (SELECT FROM ${named(schema, "item")} AS i WHERE i.k = state_tag.k));`);
  return { admin, role, schema, connectionString };
}

describe("tenants kept apart by the server", () => {
  test("see and write only their own items, by the README's policies", async () => {
    const { admin, schema, connectionString } = await openTenants();
    const storeOf = (tenant: string) => {
      const options = `-c app.tenant=${tenant}`;
      return new PostgresStateStore({ pool: openPool({ connectionString, options }) }, { schema });
    };
    const [acme, other] = [storeOf("acme"), storeOf("other")];
    const scope = { owner: "acme/ann" };
    await acme.create("a", "{}", { ...scope, tags: { kind: "x", phase: "y" } });
    await acme.set("a", "{}", { ...scope, tags: { kind: "y" } });
    await acme.create("gone", "{}", { ...scope, tags: { kind: "y" } });
    expect(await acme.delete("gone", scope)).toBe(true);
    expect(await keysOf(acme, { ...scope, tags: { kind: "y" } })).toEqual(["a"]);
    expect(await other.get("a", scope)).toBeUndefined();
    expect(await keysOf(other, scope)).toEqual([]);
    expect(await other.delete("a", scope)).toBe(false);
    expect(await other.erase(scope)).toEqual({ items: 0 });
    for (const call of [() => other.create("a", "{}", scope), () => other.set("new", "{}", scope)]) {
      expect(await rejection(call())).toMatchObject({ code: "unauthorized" });
    }
    expect(await acme.get("a", scope)).toBeDefined();
    const { rows } = await admin.query(`SELECT count(*)::int AS tags FROM ${named(schema, "tag")}`);
    expect(rows).toEqual([{ tags: 1 }]);
  });

  test("may be told by their role, which holds behind a pooler too; without a tenant nothing looks absent", async () => {
    const { admin, role, schema, connectionString } = await openTenants();
    const scope = { owner: "acme/ann" };
    const pooler = await startPgBouncer(connectionString);
    onTestFinished(() => pooler.stop());
    // It drops the `options` of its clients.
    const pool = openPool({ connectionString: pooler.url, options: "-c app.tenant=acme" });
    const nobody = new PostgresStateStore({ pool }, { schema, prepare: false });
    for (const call of [() => nobody.get("a", scope), () => nobody.listKeys(scope), () => nobody.delete("a", scope)]) {
      const error = await rejection(call());
      expect(error.code).toBe("configuration");
      expect(error.message).toContain("a setting");
    }
    await admin.query(`ALTER ROLE "${role}" SET app.tenant = 'acme'`);
    const later = await startPgBouncer(connectionString);
    onTestFinished(() => later.stop());
    const acme = openStore({ schema, connectionString: later.url, prepare: false });
    await acme.create("a", "{}", { ...scope, tags: { kind: "x" } });
    expect(await keysOf(acme, { ...scope, tags: { kind: "x" } })).toEqual(["a"]);
    expect(await rejection(acme.create("a", "{}", { owner: "other/ann" }))).toMatchObject({ code: "unauthorized" });
  });

  test("who may write what they may not see are refused, and do not wait for ever", async () => {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const admin = openPool();
    await openStore({ schema }).create("a", '{"hidden":1}');
    await admin.query(grants(schema, role));
    await admin.query(`
      ALTER TABLE ${named(schema, "item")} ENABLE ROW LEVEL SECURITY;
      CREATE POLICY seen ON ${named(schema, "item")} USING (value NOT LIKE '%hidden%');`);
    const blind = openStore({ connectionString, schema });
    expect(await rejection(blind.set("a", "{}"))).toMatchObject({ code: "unauthorized" });
    expect(await blind.get("a")).toBeUndefined();
  });
});

test("who may see and not delete are refused, and not told of a deletion that was none", async () => {
  const { role, connectionString } = await newRole();
  const schema = freshSchema();
  const admin = openPool();
  const owners = openStore({ schema });
  await owners.create("a", "{}");
  await admin.query(grants(schema, role));
  await admin.query(`
    ALTER TABLE ${named(schema, "item")} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY seen ON ${named(schema, "item")} FOR SELECT USING (true);
    CREATE POLICY changed ON ${named(schema, "item")} FOR UPDATE USING (true);`);
  const limited = openStore({ connectionString, schema });
  for (const call of [() => limited.delete("a"), () => limited.erase({ owner: null })]) {
    expect(await rejection(call())).toMatchObject({ code: "unauthorized" });
  }
  expect(await limited.delete("none")).toBe(false);
  expect(await owners.get("a")).toBeDefined();
});
