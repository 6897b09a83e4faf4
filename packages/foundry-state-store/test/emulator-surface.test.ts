import { rename } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCheckpoints, openEmulator, segment } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";

const AGENT = "/api/projects/local/agents/my%20agent/endpoint/state_stores";

test.each([{ authorization: "" }, { authorization: "Bearer " }, { authorization: "Basic abc" }])(
  "E48 refuses a request without a bearer token: %j",
  async (headers) => {
    const emulator = await openCheckpoints();
    expect(await emulator.send("GET", emulator.at(""), { headers })).toMatchObject({
      status: 401,
      body: { error: { code: "unauthorized" } },
    });
  },
);

test("E48 refuses a request without the header of the token", async () => {
  const { endpoint } = await openEmulator();
  const reply = await fetch(`${endpoint}/storage/state_stores?api-version=v1`);
  expect(reply.status).toBe(401);
  expect(await reply.json()).toMatchObject({ error: { code: "unauthorized" } });
});

test.each(["", "api-version=v2"])("E48 refuses another version: %j", async (query) => {
  const emulator = await openCheckpoints();
  const { status, body } = await emulator.send("GET", emulator.at(""), { query });
  expect([status, body.error.param]).toEqual([400, "api-version"]);
});

test.each(["Y2hlY2twb2ludHM=", "Y2hlY2twb2ludHM%3D", "a", "a*b", "Zh"])("E48 refuses the segment %s", async (bad) => {
  const emulator = await openCheckpoints();
  expect((await emulator.send("GET", `/${bad}`)).status).toBe(400);
  const { status, body } = await emulator.send("GET", emulator.at(`/items/${bad}`));
  expect([status, body.error.param]).toEqual([400, "key"]);
});

test("E49 the agent's surface shows the same stores under its preview header, and lists them", async () => {
  const emulator = await openCheckpoints();
  await emulator.send("POST", "", { body: { name: "second" } });
  await emulator.item("PUT", "k", { body: { value: { a: 1 } } });
  const headers = { "foundry-features": "StateStores=V1Preview" };
  const path = `${AGENT}/${segment("checkpoints")}/items/${segment("k")}`;
  expect(await emulator.send("GET", "", { path, headers })).toMatchObject({ status: 200, body: { value: { a: 1 } } });
  expect(await emulator.send("GET", "", { path })).toMatchObject({
    status: 400,
    body: { error: { param: "Foundry-Features" } },
  });
  const listed = await emulator.send("GET", "", { path: AGENT, headers, query: "api-version=v1&limit=1&order=asc" });
  expect(listed.body).toMatchObject({ object: "list", has_more: true });
  const rest = await emulator.send("GET", "", {
    path: AGENT,
    headers,
    query: `api-version=v1&order=asc&after=${encodeURIComponent(listed.body.last_id)}`,
  });
  const names = [...listed.body.data, ...rest.body.data].map(({ name }: { name: string }) => name);
  expect(names.sort()).toEqual(["checkpoints", "second"]);
});

test("E49 the preview header is not asked for where that is configured, and does no harm elsewhere", async () => {
  const emulator = await openCheckpoints({ requirePreviewHeader: false });
  expect((await emulator.send("GET", "", { path: `${AGENT}/${segment("checkpoints")}` })).status).toBe(200);
  const headers = { "foundry-features": "StateStores=V1Preview" };
  expect((await emulator.send("GET", emulator.at(""), { headers })).status).toBe(200);
});

test("E49 projects have stores of their own", async () => {
  const emulator = await openCheckpoints();
  const path = `/api/projects/other/storage/state_stores/${segment("checkpoints")}`;
  expect((await emulator.send("GET", "", { path })).status).toBe(404);
});

test("E50 the log tells of every request, and of no token, value, key, store or call", async () => {
  const dataDirectory = join(await temporaryFolder(), "secret-folder");
  const emulator = await openEmulator({ users: { "secret-call": "secret-user" }, dataDirectory });
  await emulator.send("POST", "", { body: { name: "secret-store", user_isolation: true, description: "secret-text" } });
  const store = `/${segment("secret-store")}`;
  const options = { callId: "secret-call", headers: { authorization: "Bearer secret-token" } };
  const item = `${store}/items/${segment("secret-key")}`;
  const body = { value: { text: "secret-value" }, tags: { kind: "secret-tag" } };
  const { etag } = await emulator.send("PUT", item, { ...options, body });
  await emulator.send("POST", `${store}/items`, { ...options, body: { key: "secret-key", ...body } });
  await emulator.send("PUT", item, { ...options, body, ifMatch: '"secret-etag"' });
  await emulator.send("PUT", item, { ...options, body: { value: "secret-value" } });
  await emulator.send("GET", item, options);
  await emulator.send("GET", item, { callId: "secret-unknown" });
  await emulator.send("GET", `${store}/items:keys`, {
    ...options,
    query: "api-version=v1&tags.kind=secret-tag&after=secret",
  });
  await emulator.send("GET", `${store}/items:keys`, { ...options, query: "api-version=secret-version" });
  await emulator.send("GET", "", {
    ...options,
    path: `${AGENT}/${segment("secret-store")}/items/${segment("secret-key")}`,
  });
  await emulator.send("DELETE", item, { ...options, ifMatch: etag ?? "" });
  await emulator.send("GET", "/secret", options);
  await emulator.send("GET", "", { ...options, path: "/secret-path" });
  // A folder that is gone is a failure of the emulator's own.
  await rename(dataDirectory, `${dataDirectory}-gone`);
  expect((await emulator.send("POST", "", { body: { name: "secret-other" } })).status).toBe(500);
  await rename(`${dataDirectory}-gone`, dataDirectory);
  const text = emulator.log.map((entry) => `${entry.level} ${entry.text}`).join("\n");
  expect(new Set(emulator.log.map(({ level }) => level))).toEqual(new Set(["debug", "info", "warning", "error"]));
  for (const secret of ["secret", segment("secret-store"), segment("secret-key"), "my%20agent"]) {
    expect(text).not.toContain(secret);
  }
  expect(text).toMatch(/^info PUT \*{3}\/storage\/state_stores\/\*\/items\/\*\?api-version=v1 201 [\d.]+ ms$/m);
  expect(text).toMatch(/^warning GET \*{3}\/agents\/\*\/endpoint\/state_stores\/\*\/items\/\*\?api-version=v1 400/m);
});

test("a body that is no UTF-8 is refused, and not stored as something else", async () => {
  const emulator = await openCheckpoints();
  const body = Buffer.concat([Buffer.from('{"value":{"a":"'), Buffer.from([0xff]), Buffer.from('"}}')]);
  const url = `${emulator.endpoint}/storage/state_stores${emulator.at(`/items/${segment("k")}`)}?api-version=v1`;
  const reply = await fetch(url, { method: "PUT", body, headers: { authorization: "Bearer t" } });
  expect(reply.status).toBe(400);
  expect((await emulator.item("GET", "k")).status).toBe(404);
});

test("requests are answered though nobody can take the log, and one that is given up is no failure", async () => {
  const deaf = await openCheckpoints({
    log: () => {
      throw new Error("full");
    },
  });
  expect((await deaf.item("PUT", "k", { body: { value: {} } })).status).toBe(201);
  const emulator = await openCheckpoints();
  const path = `/api/projects/local/storage/state_stores${emulator.at(`/items/${segment("k")}`)}?api-version=v1`;
  const upload = request({
    ...{ port: emulator.port, host: "127.0.0.1", method: "PUT", path },
    headers: { authorization: "Bearer t", "content-length": 1_000 },
  });
  upload.on("error", () => {});
  upload.write('{"value"');
  await expect.poll(() => emulator.log.filter(({ text }) => text.startsWith("PUT")).length).toBe(1);
  upload.destroy();
  await expect.poll(() => emulator.log.at(-1)?.text).toContain("was given up by the client");
  expect(emulator.log.filter(({ level }) => level === "error")).toEqual([]);
});
