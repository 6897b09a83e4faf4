import { describe, expect, test } from "vitest";
import { type Emulator, openCheckpoints } from "./support/emulator.ts";

type Checkpoints = Awaited<ReturnType<typeof openCheckpoints>>;

const query = (...parts: string[]) => ["api-version=v1", ...parts].join("&");

async function fill(emulator: Checkpoints, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await emulator.item("PUT", `item-${index}`, { body: { value: { index } } });
  }
}

function list(emulator: Checkpoints, ...parts: string[]) {
  return emulator.send("GET", emulator.at("/items:keys"), { query: query(...parts) });
}

async function pages(emulator: Checkpoints, ...parts: string[]): Promise<{ key: string }[]> {
  const found: { key: string }[] = [];
  for (let after: string | null = null; ; ) {
    const { body } = await list(emulator, ...parts, ...(after === null ? [] : [`after=${encodeURIComponent(after)}`]));
    found.push(...body.data);
    if (!body.has_more) {
      return found;
    }
    after = body.last_id;
  }
}

describe("listing keys", () => {
  test("E35 of an empty store is an empty page", async () => {
    const emulator = await openCheckpoints();
    const { status, body } = await list(emulator);
    expect(status).toBe(200);
    expect(body).toEqual({ object: "list", data: [], first_id: null, last_id: null, has_more: false });
  });

  test("E36 gives 20 a page, every key once, and no value", async () => {
    const emulator = await openCheckpoints();
    await fill(emulator, 25);
    const first = await list(emulator);
    expect([first.body.data.length, first.body.has_more]).toEqual([20, true]);
    const second = await list(emulator, `after=${encodeURIComponent(first.body.last_id)}`);
    expect([second.body.data.length, second.body.has_more]).toEqual([5, false]);
    const found = [...first.body.data, ...second.body.data];
    expect(new Set(found.map(({ key }) => key)).size).toBe(25);
    expect(found.some((item) => "value" in item)).toBe(false);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=abc", "limit"],
    ["order=up", "order"],
  ])("E37 refuses %s", async (part, param) => {
    const emulator = await openCheckpoints();
    const { status, body } = await list(emulator, part);
    expect([status, body.error.param]).toEqual([400, param]);
  });

  test("E38 refuses after and before together", async () => {
    const emulator = await openCheckpoints();
    const { status, body } = await list(emulator, "after=x", "before=y");
    expect(status).toBe(400);
    expect(["after", "before"]).toContain(body.error.param);
  });

  test("E39 goes by the time of creation and the id, backwards in exactly the reverse, and backwards unless told", async () => {
    const emulator = await openCheckpoints();
    await fill(emulator, 12);
    emulator.advanceTime(2_000);
    await emulator.item("PUT", "later", { body: { value: {} } });
    await emulator.item("PUT", "item-3", { body: { value: { again: true } } });
    const ascending = await pages(emulator, "order=asc", "limit=5");
    expect(ascending.at(-1)?.key).toBe("later");
    expect(await pages(emulator, "limit=4")).toEqual([...ascending].reverse());
    const { body } = await list(emulator, "order=asc");
    const ids = body.data.map((item: { created_at: number; id: string }) => `${item.created_at} ${item.id}`);
    expect(ids).toEqual([...ids].sort());
  });

  test("E40 by tags gives what carries all of them, and filters before it cuts pages", async () => {
    const emulator = await openCheckpoints();
    for (let index = 0; index < 30; index += 1) {
      const tags = { kind: index % 2 ? "checkpoint" : "note", phase: index % 3 ? "run" : "plan" };
      await emulator.item("PUT", `item-${index}`, { body: { value: {}, tags } });
    }
    const first = await list(emulator, "tags.kind=checkpoint", "tags.phase=run", "limit=3");
    expect(first.body.data).toHaveLength(3);
    const found = await pages(emulator, "tags.kind=checkpoint", "tags.phase=run", "limit=3");
    const wanted = Array.from({ length: 30 }, (_, index) => index).filter((index) => index % 2 && index % 3);
    expect(found.map(({ key }) => key).sort()).toEqual(wanted.map((index) => `item-${index}`).sort());
  });

  test("E41 reads a cursor alike, whether its space comes as %20 or as +", async () => {
    const emulator = await openCheckpoints();
    await fill(emulator, 40);
    for (const { body } of [await list(emulator, "limit=7"), await list(emulator, "limit=9"), await list(emulator)]) {
      const cursor: string = body.last_id;
      expect(cursor).toMatch(/^(?=.* )(?=.*\/)(?=.*\+)(?=.*=)/);
      const encoded = encodeURIComponent(cursor);
      const [left, right] = [
        await list(emulator, `after=${encoded}`),
        await list(emulator, `after=${encoded.replaceAll("%20", "+")}`),
      ];
      expect(left.body.data.length).toBeGreaterThan(0);
      expect(right.body).toEqual(left.body);
      // One that was not escaped at all is another text, and no place in the listing.
      expect((await list(emulator, `after=${cursor}`)).body.data).toEqual([]);
    }
  });

  test("a cursor is not an item's id; an id is taken too, and an unknown one shows nothing or is refused", async () => {
    const emulator = await openCheckpoints();
    await fill(emulator, 5);
    const { body } = await list(emulator, "limit=2");
    expect(body.last_id).not.toBe(body.data[1].id);
    const byId = await list(emulator, `after=${body.data[1].id}`);
    expect(byId.body.data).toEqual((await list(emulator, `after=${encodeURIComponent(body.last_id)}`)).body.data);
    expect((await list(emulator, "after=unknown")).body).toMatchObject({ data: [], has_more: false });
    const strict = await openCheckpoints({ unknownCursor: "refuse" });
    expect(await list(strict, "after=unknown")).toMatchObject({ status: 400, body: { error: { param: "after" } } });
  });

  test("before gives the first page of what comes before the cursor", async () => {
    const emulator = await openCheckpoints();
    await fill(emulator, 6);
    const { body } = await list(emulator, "order=asc");
    const keys = body.data.map(({ key }: { key: string }) => key);
    const before = await list(emulator, "order=asc", "limit=2", `before=${encodeURIComponent(body.last_id)}`);
    expect(before.body.data.map(({ key }: { key: string }) => key)).toEqual(keys.slice(0, 2));
    expect(before.body.has_more).toBe(true);
  });

  test("a cursor holds when the item that it was made at is deleted", async () => {
    const emulator: Emulator & Checkpoints = await openCheckpoints();
    await fill(emulator, 6);
    const first = await list(emulator, "limit=3");
    await emulator.item("DELETE", first.body.data[2].key);
    const { body } = await list(emulator, "limit=3", `after=${encodeURIComponent(first.body.last_id)}`);
    expect(body.data).toHaveLength(3);
  });
});
