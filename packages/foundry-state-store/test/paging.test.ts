import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { FoundryStateStore } from "../src/index.ts";
import { openEmulator } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";
import { openScripted } from "./support/scripted.ts";

const KEYS = 10_000;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Memory that is in use after all that can go has gone. */
function usedBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** A page of 100 keys from a place in the listing, as the service would give it. */
function page(url: string): object {
  const query = new URL(url, "http://h").searchParams;
  const start = Number(query.get("after") ?? 0);
  const limit = Number(query.get("limit"));
  const data = Array.from({ length: Math.min(limit, KEYS - start) }, (_, index) => ({
    id: `it_${start + index}`,
    key: `key-${start + index}`,
    etag: '"e"',
    tags: { kind: "x".repeat(200) },
    created_at: 1_700_000_000,
    updated_at: 1_700_000_000,
  }));
  return {
    object: "list",
    data,
    first_id: String(start),
    last_id: String(start + data.length),
    has_more: start + limit < KEYS,
  };
}

test("10,000 keys stream in pages of 100, each asked for when the one before is used up, in flat memory", async () => {
  const { server, store } = await openScripted({ timeoutMs: 30_000 });
  server.otherwise(({ url }) => {
    server.seen.length = 0;
    requests += 1;
    return { status: 200, body: page(url) };
  });
  let requests = 0;
  let count = 0;
  let [early, late] = [0, 0];
  for await (const { key } of store.iterateItemKeys({ tags: { kind: "x" } })) {
    expect(key).toBe(`key-${count}`);
    // The request for a page goes out when its first key is asked for.
    expect(requests).toBe(Math.floor(count / 100) + 1);
    count += 1;
    if (count === 1_000) {
      early = usedBytes();
    } else if (count === KEYS - 1) {
      late = usedBytes();
    }
  }
  expect([count, requests]).toEqual([KEYS, 100]);
  // All keys at once would be several megabytes.
  expect(late - early).toBeLessThan(1_500_000);
});

test("a walk that is ended early asks for nothing more", async () => {
  const { server, store } = await openScripted();
  server.otherwise(({ url }) => ({ status: 200, body: page(url) }));
  for await (const { key } of store.iterateItemKeys({ pageSize: 10 })) {
    if (key === "key-14") {
      break;
    }
  }
  expect(server.seen).toHaveLength(2);
});

/** The lines of an emulator's file with as many items. */
function fileOf(count: number): string {
  const times = { createdAt: 1_700_000_000, updatedAt: 1_700_000_000 };
  const store = {
    id: "ss_1",
    name: "many",
    userIsolation: false,
    itemTtlSeconds: -1,
    description: null,
    tags: {},
    ...times,
  };
  const lines = Array.from({ length: count }, (_, index) => {
    const id = `it_${String(index * 7919).padStart(24, "0")}`;
    return { user: "", put: { id, key: `key-${index}`, text: "{}", tags: {}, etag: '"e"', ...times, expiresAt: null } };
  });
  return [{ project: "/api/projects/local", store }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

test("10,000 keys of an emulator come once each, though all were made in one second", async () => {
  const dataDirectory = await temporaryFolder();
  const name = createHash("sha256")
    .update(JSON.stringify(["/api/projects/local", "many"]))
    .digest("hex");
  await writeFile(join(dataDirectory, `${name.slice(0, 32)}.jsonl`), fileOf(KEYS));
  const { endpoint } = await openEmulator({ dataDirectory });
  const store = await FoundryStateStore.getOrCreate("many", { endpoint, timeoutMs: 60_000 });
  const found = new Set<string>();
  let count = 0;
  for await (const { key } of store.iterateItemKeys()) {
    found.add(key);
    count += 1;
  }
  expect([count, found.size]).toEqual([KEYS, KEYS]);
});
