import { startPgBouncer } from "@agentfw/test-servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { PostgresHistoryStore, schemaSql } from "../src/index.ts";
import { conversation, records, rejection } from "./support/conversation.ts";
import { freshSchema, grants, named, newRole, openPool, openStore } from "./support/postgres.ts";

const KEY = conversation("s", { owner: "acme/ann" });

/** Tables with the policies of the README, and a role that may use them. */
async function openTenants() {
  const { role, connectionString } = await newRole();
  const schema = freshSchema();
  const admin = openPool();
  await admin.query(schemaSql({ schema }));
  await admin.query(grants(schema, role));
  await admin.query(`
    ALTER TABLE ${named(schema, "conversation")} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${named(schema, "record")} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON ${named(schema, "conversation")}
      USING (starts_with(owner, current_setting('app.tenant') || '/'));
    CREATE POLICY tenant ON ${named(schema, "record")}
      USING (EXISTS (SELECT FROM ${named(schema, "conversation")} AS c WHERE c.k = history_record.k));`);
  return { admin, role, schema, connectionString };
}

describe("tenants kept apart by the server", () => {
  test("see and write only their own conversations, by the README's policies", async () => {
    const { schema, connectionString } = await openTenants();
    const storeOf = (tenant: string) => {
      const options = `-c app.tenant=${tenant}`;
      return new PostgresHistoryStore({ pool: openPool({ connectionString, options }) }, { schema });
    };
    const [acme, other] = [storeOf("acme"), storeOf("other")];
    await acme.append(KEY, records("a", 2));
    await acme.append(KEY, records("b", 1));
    expect((await acme.read(KEY)).records).toHaveLength(3);
    expect((await other.read(KEY)).records).toEqual([]);
    expect(await rejection(other.append(KEY, records("c", 1)))).toMatchObject({ code: "unauthorized" });
    expect((await other.list({ allOwners: true })).items).toEqual([]);
    expect(await other.erase({ owner: "acme/ann" })).toEqual({ conversations: 0, records: 0 });
    expect((await acme.read(KEY)).records).toHaveLength(3);
  });

  test("may be told by their role, which holds behind a pooler too; without a tenant nothing looks empty", async () => {
    const { admin, role, schema, connectionString } = await openTenants();
    const pooler = await startPgBouncer(connectionString);
    onTestFinished(() => pooler.stop());
    // It drops the `options` of its clients.
    const pool = openPool({ connectionString: pooler.url, options: "-c app.tenant=acme" });
    const nobody = new PostgresHistoryStore({ pool }, { schema, prepare: false });
    for (const call of [() => nobody.read(KEY), () => nobody.list({ allOwners: true }), () => nobody.clear(KEY)]) {
      const error = await rejection(call());
      expect(error.code).toBe("configuration");
      expect(error.message).toContain("a setting");
    }
    await admin.query(`ALTER ROLE "${role}" SET app.tenant = 'acme'`);
    const later = await startPgBouncer(connectionString);
    onTestFinished(() => later.stop());
    const acme = openStore({ schema, connectionString: later.url, prepare: false });
    await acme.append(KEY, records("a", 2));
    expect((await acme.read(KEY)).records).toHaveLength(2);
    const theirs = conversation("s", { owner: "other/ann" });
    expect(await rejection(acme.append(theirs, records("a", 1)))).toMatchObject({ code: "unauthorized" });
  });
});

describe("a role whose policies let it see what it may not change", () => {
  async function openLimited(policies: string) {
    const { role, connectionString } = await newRole();
    const schema = freshSchema();
    const admin = openPool();
    const owners = openStore({ schema });
    await owners.append(KEY, records("a", 1));
    await admin.query(grants(schema, role));
    const conversations = named(schema, "conversation");
    await admin.query(`ALTER TABLE ${conversations} ENABLE ROW LEVEL SECURITY;
      ${policies.replaceAll("{conversations}", conversations)}`);
    return { owners, limited: openStore({ connectionString, schema }) };
  }

  test("is refused an append, and the server does not try for ever", async () => {
    const { owners, limited } = await openLimited(`
      CREATE POLICY seen ON {conversations} FOR SELECT USING (true);
      CREATE POLICY made ON {conversations} FOR INSERT WITH CHECK (true);`);
    expect((await limited.read(KEY)).records).toHaveLength(1);
    expect(await rejection(limited.append(KEY, records("b", 1)))).toMatchObject({ code: "unauthorized" });
    expect((await owners.read(KEY)).records).toHaveLength(1);
  });

  test("is refused a deletion, and not told of one that was none", async () => {
    const { owners, limited } = await openLimited(`
      CREATE POLICY seen ON {conversations} FOR SELECT USING (true);
      CREATE POLICY changed ON {conversations} FOR UPDATE USING (true);`);
    for (const call of [() => limited.clear(KEY), () => limited.erase({ owner: "acme/ann" })]) {
      expect(await rejection(call())).toMatchObject({ code: "unauthorized" });
    }
    expect((await owners.read(KEY)).records).toHaveLength(1);
  });
});
