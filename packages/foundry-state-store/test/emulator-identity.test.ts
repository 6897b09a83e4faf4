import { describe, expect, test } from "vitest";
import { openCheckpoints } from "./support/emulator.ts";

const VALUE = { done: false };
const USERS = { "call-a1": "ann", "call-a2": "ann", "call-b1": "bob" };

describe("idle life", () => {
  test("E42 ends at its second, and reading does not renew it", async () => {
    // A clock that stands still: not a millisecond more than ten seconds may be needed.
    const emulator = await openCheckpoints({ now: () => 1_700_000_000_000 }, { item_ttl_seconds: 10 });
    await emulator.item("PUT", "k", { body: { value: VALUE } });
    emulator.advanceTime(9_000);
    expect((await emulator.item("GET", "k")).status).toBe(200);
    emulator.advanceTime(999);
    expect((await emulator.item("GET", "k")).status).toBe(200);
    emulator.advanceTime(1);
    expect((await emulator.item("GET", "k")).status).toBe(404);
  });

  test("E43 is renewed by writes; what has expired is not listed, and its key is free", async () => {
    const now = { value: 1_700_000_000_000 };
    const emulator = await openCheckpoints({ now: () => now.value }, { item_ttl_seconds: 10 });
    const first = await emulator.item("PUT", "k", { body: { value: VALUE } });
    now.value += 9_000;
    await emulator.item("PUT", "k", { body: { value: VALUE } });
    now.value += 9_000;
    expect((await emulator.item("GET", "k")).status).toBe(200);
    now.value += 1_000;
    expect((await emulator.send("GET", emulator.at("/items:keys"))).body.data).toEqual([]);
    const created = await emulator.send("POST", emulator.at("/items"), { body: { key: "k", value: VALUE } });
    expect(created.status).toBe(201);
    expect(created.body.id).not.toBe(first.body.id);
    expect(created.body.created_at).toBeGreaterThan(first.body.created_at);
  });
});

describe("users", () => {
  const isolated = (options = {}) => openCheckpoints({ users: USERS, ...options }, { user_isolation: true });

  test("E44 see, list and delete their own items only; the store itself needs no user", async () => {
    const emulator = await isolated();
    await emulator.item("PUT", "k", { body: { value: { of: "ann" } }, callId: "call-a1" });
    await emulator.item("PUT", "k", { body: { value: { of: "bob" } }, callId: "call-b1" });
    await emulator.item("PUT", "only-ann", { body: { value: VALUE }, callId: "call-a1" });
    expect((await emulator.item("GET", "k", { callId: "call-a2" })).body.value).toEqual({ of: "ann" });
    expect((await emulator.item("GET", "k", { callId: "call-b1" })).body.value).toEqual({ of: "bob" });
    expect((await emulator.item("GET", "only-ann", { callId: "call-b1" })).status).toBe(404);
    const keys = async (callId: string) =>
      (await emulator.send("GET", emulator.at("/items:keys"), { callId })).body.data.map(
        ({ key }: { key: string }) => key,
      );
    expect((await keys("call-a1")).sort()).toEqual(["k", "only-ann"]);
    expect(await keys("call-b1")).toEqual(["k"]);
    await emulator.item("DELETE", "k", { callId: "call-b1" });
    expect((await emulator.item("GET", "k", { callId: "call-b1" })).status).toBe(404);
    expect((await emulator.item("GET", "k", { callId: "call-a2" })).body.value).toEqual({ of: "ann" });
    expect((await emulator.send("GET", emulator.at(""))).status).toBe(200);
  });

  test.each([undefined, "call-unknown"])(
    "E45 an item operation without a known call is refused as configured",
    async (callId) => {
      for (const withoutUser of [400, 401, 403] as const) {
        const emulator = await isolated({ withoutUser });
        await emulator.item("PUT", "k", { body: { value: VALUE }, callId: "call-a1" });
        const options = callId === undefined ? {} : { callId };
        const write = { ...options, body: { key: "k", value: { of: "nobody" } } };
        for (const reply of [
          await emulator.item("GET", "k", options),
          await emulator.item("PUT", "k", write),
          await emulator.item("DELETE", "k", options),
          await emulator.send("POST", emulator.at("/items"), write),
          await emulator.send("GET", emulator.at("/items:keys"), options),
        ]) {
          expect(reply.status).toBe(withoutUser);
          expect(reply.body.error.message).toContain("x-agent-foundry-call-id");
        }
        expect((await emulator.item("GET", "k", { callId: "call-a1" })).body.value).toEqual(VALUE);
      }
    },
  );

  test("E45 goes by the token where that is configured, and never shows another user's items", async () => {
    const emulator = await isolated({ withoutUser: "token" });
    await emulator.item("PUT", "k", { body: { value: { of: "ann" } }, callId: "call-a1" });
    expect((await emulator.item("GET", "k")).status).toBe(404);
    await emulator.item("PUT", "k", { body: { value: { of: "token" } } });
    expect((await emulator.item("GET", "k")).body.value).toEqual({ of: "token" });
    const other = await emulator.item("GET", "k", { headers: { authorization: "Bearer another" } });
    expect(other.status).toBe(404);
  });

  test("E45 a user that is made known later is known from then on", async () => {
    const emulator = await isolated();
    expect((await emulator.item("GET", "k", { callId: "call-c" })).status).toBe(400);
    emulator.setUser("call-c", "cid");
    expect((await emulator.item("GET", "k", { callId: "call-c" })).status).toBe(404);
  });

  test("E46 share the items of a store without isolation", async () => {
    const emulator = await openCheckpoints({ users: USERS });
    await emulator.item("PUT", "k", { body: { value: VALUE }, callId: "call-a1" });
    expect((await emulator.item("GET", "k", { callId: "call-b1" })).body.value).toEqual(VALUE);
    expect((await emulator.item("GET", "k", { callId: "call-unknown" })).status).toBe(200);
  });
});
