import { describe, expect, test } from "vitest";
import { openCheckpoints, openEmulator, segment } from "./support/emulator.ts";

const VALUE = { done: false };

/** A value of exactly so many compact bytes, written with white space that does not count. */
function valueText(bytes: number): string {
  return `{ "text" : "${"x".repeat(bytes - '{"text":""}'.length)}" }`;
}

describe("writing an item", () => {
  test("E17 never makes the store", async () => {
    const emulator = await openEmulator();
    const path = `/${segment("nowhere")}`;
    expect((await emulator.send("PUT", `${path}/items/${segment("k")}`, { body: { value: VALUE } })).status).toBe(404);
    expect((await emulator.send("POST", `${path}/items`, { body: { key: "k", value: VALUE } })).status).toBe(404);
    expect((await emulator.send("GET", path)).status).toBe(404);
  });

  test("E18 create answers with a reference, its etag quoted and in the header too", async () => {
    const emulator = await openCheckpoints();
    const reply = await emulator.send("POST", emulator.at("/items"), {
      body: { key: "step/1", value: VALUE, tags: { kind: "checkpoint" } },
    });
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ object: "state_store.item", key: "step/1" });
    expect(Object.keys(reply.body).sort()).toEqual(["created_at", "etag", "id", "key", "object", "updated_at"]);
    expect(reply.body.etag).toMatch(/^".+"$/);
    expect(reply.etag).toBe(reply.body.etag);
  });

  test("E19 create refuses a key that is taken, and changes nothing", async () => {
    const emulator = await openCheckpoints();
    await emulator.send("POST", emulator.at("/items"), { body: { key: "k", value: VALUE } });
    expect((await emulator.send("POST", emulator.at("/items"), { body: { key: "k", value: { b: 2 } } })).status).toBe(
      409,
    );
    expect((await emulator.item("GET", "k")).body.value).toEqual(VALUE);
  });

  test("E20 an item is found by the key's segment, with value, tags and etag", async () => {
    const emulator = await openCheckpoints();
    await emulator.send("POST", emulator.at("/items"), { body: { key: "step/1", value: VALUE, tags: { kind: "c" } } });
    const { status, body, etag } = await emulator.send("GET", emulator.at("/items/c3RlcC8x"));
    expect(status).toBe(200);
    expect(body).toMatchObject({ key: "step/1", value: VALUE, tags: { kind: "c" } });
    expect(etag).toBe(body.etag);
  });

  test("E21 put makes an item that is not there", async () => {
    const emulator = await openCheckpoints();
    const { status, etag, body } = await emulator.item("PUT", "k", { body: { value: VALUE } });
    expect([status, etag]).toEqual([201, body.etag]);
  });

  test("E22 put replaces an item and keeps its id and time of creation", async () => {
    const emulator = await openCheckpoints();
    const first = await emulator.item("PUT", "k", { body: { value: VALUE } });
    emulator.advanceTime(5_000);
    const second = await emulator.item("PUT", "k", { body: { value: VALUE } });
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ id: first.body.id, created_at: first.body.created_at });
    expect(second.body.etag).not.toBe(first.body.etag);
    expect(second.body.updated_at).toBeGreaterThan(first.body.updated_at);
  });

  test("E23 put without tags takes the tags away", async () => {
    const emulator = await openCheckpoints();
    await emulator.item("PUT", "k", { body: { value: VALUE, tags: { a: "1" } } });
    await emulator.item("PUT", "k", { body: { value: VALUE } });
    expect((await emulator.item("GET", "k")).body.tags ?? {}).toEqual({});
  });

  test.each([{ value: 1 }, { value: "x" }, { value: [] }, { value: null }, { value: true }, {}])(
    "E24 refuses a value that is no object: %j",
    async (body) => {
      const emulator = await openCheckpoints();
      const reply = await emulator.item("PUT", "k", { body });
      expect([reply.status, reply.body.error.param]).toEqual([400, "value"]);
    },
  );

  test("E25 takes a value of exactly 1,048,576 compact bytes and refuses one more", async () => {
    const emulator = await openCheckpoints();
    const put = (bytes: number) => emulator.item("PUT", "k", { text: `{"value":${valueText(bytes)}}` });
    expect((await put(1_048_576)).status).toBe(201);
    const large = await put(1_048_577);
    expect([large.status, large.body.error.param]).toEqual([400, "value"]);
    expect((await emulator.item("GET", "k")).body.value.text).toHaveLength(1_048_576 - 11);
  });

  test("E26 refuses a key of 129 characters, and a path without a key", async () => {
    const emulator = await openCheckpoints();
    const long = await emulator.item("PUT", "k".repeat(129), { body: { value: VALUE } });
    expect([long.status, long.body.error.param]).toEqual([400, "key"]);
    const created = await emulator.send("POST", emulator.at("/items"), {
      body: { key: "k".repeat(129), value: VALUE },
    });
    expect([created.status, created.body.error.param]).toEqual([400, "key"]);
    expect([404, 405]).toContain(
      (await emulator.send("PUT", emulator.at("/items/"), { body: { value: VALUE } })).status,
    );
  });

  test("E47 numbers keep their text, and text its characters", async () => {
    const emulator = await openCheckpoints();
    const value = '{"n":9007199254740993,"f":1.0,"s":"\\u0000é😀"}';
    await emulator.item("PUT", "k", { text: `{"tags":{"a":"1"},"value": ${value} }` });
    expect((await emulator.item("GET", "k")).text).toContain(`"value":${value}`);
  });
});

describe("conditions", () => {
  test("E27 put under the current etag writes", async () => {
    const emulator = await openCheckpoints();
    const { body } = await emulator.item("PUT", "k", { body: { value: VALUE } });
    const { status, body: after } = await emulator.item("PUT", "k", { body: { value: { b: 2 } }, ifMatch: body.etag });
    expect(status).toBe(200);
    expect((await emulator.item("GET", "k")).body).toMatchObject({ value: { b: 2 }, etag: after.etag });
  });

  test("E28 put under an old etag is 412 with the current one, and changes nothing", async () => {
    const emulator = await openCheckpoints();
    const first = await emulator.item("PUT", "k", { body: { value: VALUE } });
    const second = await emulator.item("PUT", "k", { body: { value: { b: 2 } } });
    const reply = await emulator.item("PUT", "k", { body: { value: { c: 3 } }, ifMatch: first.body.etag });
    expect([reply.status, reply.etag]).toEqual([412, second.body.etag]);
    expect(reply.text).not.toContain(second.body.etag);
    expect((await emulator.item("GET", "k")).body.value).toEqual({ b: 2 });
  });

  test("E29 * asks for an item that is there, whichever it is", async () => {
    const emulator = await openCheckpoints();
    const missing = await emulator.item("PUT", "k", { body: { value: VALUE }, ifMatch: "*" });
    expect([missing.status, missing.etag]).toEqual([412, null]);
    expect((await emulator.item("GET", "k")).status).toBe(404);
    await emulator.item("PUT", "k", { body: { value: VALUE } });
    expect((await emulator.item("PUT", "k", { body: { value: VALUE }, ifMatch: "*" })).status).toBe(200);
  });

  test("E30 of two puts at once under one etag exactly one writes", async () => {
    const emulator = await openCheckpoints();
    for (let round = 0; round < 10; round += 1) {
      const { body } = await emulator.item("PUT", "k", { body: { value: VALUE } });
      const replies = await Promise.all(
        [1, 2].map((n) => emulator.item("PUT", "k", { body: { value: { n } }, ifMatch: body.etag })),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 412]);
      const winner = replies.findIndex(({ status }) => status === 200) + 1;
      expect((await emulator.item("GET", "k")).body.value).toEqual({ n: winner });
    }
  });

  test("E32 delete under an old etag is 412 with the current one, and the item stays", async () => {
    const emulator = await openCheckpoints();
    const first = await emulator.item("PUT", "k", { body: { value: VALUE } });
    const second = await emulator.item("PUT", "k", { body: { value: VALUE } });
    const reply = await emulator.item("DELETE", "k", { ifMatch: first.body.etag });
    expect([reply.status, reply.etag]).toEqual([412, second.body.etag]);
    expect((await emulator.item("GET", "k")).status).toBe(200);
  });
});

describe("deleting", () => {
  test("E31 an item, and once more, tells by the id whether there was one", async () => {
    const emulator = await openCheckpoints();
    const { body } = await emulator.item("PUT", "k", { body: { value: VALUE } });
    expect(await emulator.item("DELETE", "k")).toMatchObject({ status: 200, body: { id: body.id, deleted: true } });
    const again = await emulator.item("DELETE", "k");
    expect([again.status, again.body.deleted, again.body.id ?? null]).toEqual([200, true, null]);
  });

  test("E33 an item, or listing, in a store that is not there is 404", async () => {
    const emulator = await openEmulator();
    const path = `/${segment("nowhere")}`;
    expect((await emulator.send("DELETE", `${path}/items/${segment("k")}`)).status).toBe(404);
    expect((await emulator.send("GET", `${path}/items:keys`)).status).toBe(404);
  });

  test("E34 a store takes its items along, can be repeated, and leaves the name free", async () => {
    const emulator = await openCheckpoints();
    await emulator.item("PUT", "k", { body: { value: VALUE } });
    const { body } = await emulator.send("GET", emulator.at(""));
    expect(await emulator.send("DELETE", emulator.at(""))).toMatchObject({
      status: 200,
      body: { id: body.id, deleted: true },
    });
    expect((await emulator.item("GET", "k")).status).toBe(404);
    const again = await emulator.send("DELETE", emulator.at(""));
    expect([again.status, again.body.id ?? null, again.body.deleted]).toEqual([200, null, true]);
    await emulator.send("POST", "", { body: { name: "checkpoints" } });
    expect((await emulator.send("GET", emulator.at("/items:keys"))).body.data).toEqual([]);
  });
});
