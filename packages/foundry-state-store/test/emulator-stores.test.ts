import { describe, expect, test } from "vitest";
import { openEmulator, segment } from "./support/emulator.ts";

const AT = `/${segment("a/b")}`;

function tagsOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`tag_${index}.x-y`, "v".repeat(256)]));
}

describe("creating a store", () => {
  test("E1 gives what the store is, with the defaults", async () => {
    const emulator = await openEmulator();
    const { status, body } = await emulator.send("POST", "", { body: { name: "a/b" } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      object: "state_store",
      name: "a/b",
      user_isolation: false,
      item_ttl_seconds: 2592000,
    });
    expect(Number.isInteger(body.created_at)).toBe(true);
    expect(body.updated_at).toBe(body.created_at);
    expect(typeof body.id).toBe("string");
  });

  test("E2 refuses a name that is taken, and leaves the store that has it as it is", async () => {
    const emulator = await openEmulator();
    await emulator.send("POST", "", { body: { name: "a/b", item_ttl_seconds: -1, description: "first" } });
    const { status, body } = await emulator.send("POST", "", { body: { name: "a/b", user_isolation: true } });
    expect(status).toBe(409);
    expect(body.error).toMatchObject({ code: "conflict", message: expect.any(String) });
    const found = await emulator.send("GET", AT);
    expect(found.body).toMatchObject({ user_isolation: false, item_ttl_seconds: -1, description: "first" });
  });

  test("E3 is found by the name's segment", async () => {
    const emulator = await openEmulator();
    await emulator.send("POST", "", { body: { name: "a/b" } });
    expect(await emulator.send("GET", "/YS9i")).toMatchObject({ status: 200, body: { name: "a/b" } });
  });

  test("E4 an unknown store is 404 with a message", async () => {
    const emulator = await openEmulator();
    const { status, body } = await emulator.send("GET", AT);
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ code: expect.any(String), message: expect.stringMatching(/./) });
  });

  test.each(["", "x".repeat(129)])("E5 refuses a name that is empty or too long", async (name) => {
    const emulator = await openEmulator();
    const { status, body } = await emulator.send("POST", "", { body: { name } });
    expect([status, body.error.param]).toEqual([400, "name"]);
  });

  test("E6 takes a name of exactly 128 characters with slashes and beyond ASCII", async () => {
    const emulator = await openEmulator();
    const name = "作業/é".repeat(32);
    expect(name).toHaveLength(128);
    expect((await emulator.send("POST", "", { body: { name } })).status).toBe(201);
    expect(await emulator.send("GET", `/${segment(name)}`)).toMatchObject({ status: 200, body: { name } });
  });

  test.each([0, -2, 2147483648, 1.5, "60"])("E7 refuses an idle life of %s", async (ttl) => {
    const emulator = await openEmulator();
    const { status, body } = await emulator.send("POST", "", { body: { name: "a/b", item_ttl_seconds: ttl } });
    expect([status, body.error.param]).toEqual([400, "item_ttl_seconds"]);
  });

  test.each([-1, 1, 2147483647])("E8 takes an idle life of %s", async (ttl) => {
    const emulator = await openEmulator();
    const reply = await emulator.send("POST", "", { body: { name: "a/b", item_ttl_seconds: ttl } });
    expect(reply).toMatchObject({ status: 201, body: { item_ttl_seconds: ttl } });
  });

  test("E9 takes a description of 1,024 characters and refuses one more", async () => {
    const emulator = await openEmulator();
    const long = await emulator.send("POST", "", { body: { name: "a/b", description: "d".repeat(1025) } });
    expect([long.status, long.body.error.param]).toEqual([400, "description"]);
    expect((await emulator.send("POST", "", { body: { name: "a/b", description: "d".repeat(1024) } })).status).toBe(
      201,
    );
  });

  test.each([tagsOf(17), { "a b": "x" }, { ["k".repeat(65)]: "x" }, { a: "v".repeat(257) }, { a: 1 }])(
    "E10 refuses tags above the limits",
    async (tags) => {
      const emulator = await openEmulator();
      const { status, body } = await emulator.send("POST", "", { body: { name: "a/b", tags } });
      expect(status).toBe(400);
      expect(body.error.param).toMatch(/^tags/);
    },
  );

  test("E10 takes 16 tags of the largest shape", async () => {
    const emulator = await openEmulator();
    const tags = { ...tagsOf(15), ["k".repeat(64)]: "v" };
    expect(await emulator.send("POST", "", { body: { name: "a/b", tags } })).toMatchObject({
      status: 201,
      body: { tags },
    });
  });
});

describe("changing a store", () => {
  async function openWith(store: object) {
    const emulator = await openEmulator();
    await emulator.send("POST", "", { body: { name: "a/b", ...store } });
    return emulator;
  }

  test("E11 changes the description and leaves the tags", async () => {
    const emulator = await openWith({ tags: { a: "1" } });
    const before = await emulator.send("GET", AT);
    emulator.advanceTime(5_000);
    const { status, body } = await emulator.send("PATCH", AT, { body: { description: "x" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ description: "x", tags: { a: "1" }, created_at: before.body.created_at });
    expect(body.updated_at).toBeGreaterThan(before.body.updated_at);
  });

  test("E12 replaces the tags wholesale", async () => {
    const emulator = await openWith({ tags: { a: "1" }, description: "x" });
    const { body } = await emulator.send("PATCH", AT, { body: { tags: { b: "2" } } });
    expect(body).toMatchObject({ description: "x" });
    expect(body.tags).toEqual({ b: "2" });
  });

  test("E13 changes nothing where nothing is said", async () => {
    const emulator = await openWith({ tags: { a: "1" }, description: "x" });
    const before = await emulator.send("GET", AT);
    emulator.advanceTime(5_000);
    expect(await emulator.send("PATCH", AT, { body: {} })).toMatchObject({ status: 200, body: before.body });
  });

  test.each([
    { description: null, tags: {} },
    { description: null, tags: null },
  ])("E14 clears description and tags", async (changes) => {
    const emulator = await openWith({ tags: { a: "1" }, description: "x" });
    const { status, body } = await emulator.send("PATCH", AT, { body: changes });
    expect([status, body.description ?? null, body.tags ?? {}]).toEqual([200, null, {}]);
    expect((await emulator.send("GET", AT)).body).toEqual(body);
  });

  test.each([{ user_isolation: true }, { name: "b" }, { item_ttl_seconds: 5 }])(
    "E15 refuses to change what is fixed",
    async (fixed) => {
      const emulator = await openWith({ description: "x" });
      const before = await emulator.send("GET", AT);
      const { status, body } = await emulator.send("PATCH", AT, { body: { ...fixed, description: "y" } });
      expect([status, body.error.param]).toEqual([400, Object.keys(fixed)[0]]);
      expect((await emulator.send("GET", AT)).body).toEqual(before.body);
    },
  );

  test("E16 of an unknown store is 404", async () => {
    const emulator = await openEmulator();
    expect((await emulator.send("PATCH", AT, { body: { description: "x" } })).status).toBe(404);
  });
});
