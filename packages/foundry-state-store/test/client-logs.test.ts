import { type Instrumenter, type TracingContext, useInstrumenter } from "@azure/core-tracing";
import { AzureLogger, setLogLevel } from "@azure/logger";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FoundryStateStore, runWithCallId } from "../src/index.ts";
import { openEmulator, segment } from "./support/emulator.ts";
import { failure, openScripted } from "./support/scripted.ts";

const SECRET = "c0ffee-secret";

const PARTS = [
  SECRET,
  "c0ffee",
  segment(SECRET),
  segment(`${SECRET}-store`),
  segment(`${SECRET}-key`),
  encodeURIComponent(`${SECRET} tag`),
];

let lines: string[] = [];

const write = AzureLogger.log;

beforeEach(() => {
  lines = [];
  setLogLevel("verbose");
  AzureLogger.log = (...parts) =>
    void lines.push(parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "));
});

afterEach(() => {
  setLogLevel();
  AzureLogger.log = write;
});

/** Every operation, with secrets wherever something can be said. */
async function everything(store: FoundryStateStore): Promise<void> {
  const [key, tags] = [`${SECRET}-key`, { kind: `${SECRET} tag` }];
  const { etag } = await store.setItem(key, { text: SECRET }, { tags });
  await failure(store.createItem(key, { text: SECRET }, { tags }));
  await failure(store.setItem(key, { text: SECRET }, { ifMatch: `"${SECRET}"` }));
  await store.getItem(key);
  await store.getItem(`${SECRET}-missing`);
  await store.listItemKeys({ tags, after: SECRET });
  await store.updateStore({ description: SECRET, tags });
  await store.deleteItem(key, { ifMatch: etag });
  await failure(store.getItem("x".repeat(129)));
}

test("C23 the log of all calls at its finest level tells verbs, masked paths and statuses, and nothing else", async () => {
  const emulator = await openEmulator({ users: { [`${SECRET}-call`]: "ann" } });
  const credential = { getToken: async () => ({ token: `${SECRET}-token`, expiresOnTimestamp: 9e15 }) };
  for (const agentName of [undefined, `${SECRET}-agent`]) {
    const options = { endpoint: emulator.endpoint, credential, userIsolation: true, agentName };
    const store = await FoundryStateStore.getOrCreate(`${SECRET}-store`, options);
    await runWithCallId(`${SECRET}-call`, () => everything(store));
    await failure(store.getItem("k", { callId: `${SECRET}-unknown` }));
  }
  const text = lines.join("\n");
  for (const part of PARTS) {
    expect(text).not.toContain(part);
  }
  expect(text).toMatch(
    /:verbose PUT \*{3}\/storage\/state_stores\/\*\/items\/\*\?api-version=v1 client-request-id=[0-9a-f-]+$/m,
  );
  expect(text).toMatch(
    /:info PUT \*{3}\/storage\/state_stores\/\*\/items\/\*\?api-version=v1 client-request-id=[0-9a-f-]+ 201 \d+ ms$/m,
  );
  expect(text).toMatch(/:warning PUT .* 412 \d+ ms$/m);
  expect(text).toMatch(/:info GET \*{3}\/agents\/\*\/endpoint\/state_stores\/\*\/items:keys\?api-version=v1 /m);
});

test("C23 failures of the network and of the service are logged by their kind alone", async () => {
  const { server, store } = await openScripted({ pipelineOptions: { retryOptions: { retryDelayInMs: 1 } } });
  server.answer(
    { status: 500, raw: SECRET, headers: { "x-request-id": "0123-abcd", "apim-request-id": SECRET } },
    { status: 503, raw: SECRET },
    "reset",
    "reset",
    "reset",
    "reset",
  );
  await failure(store.setItem(`${SECRET}-key`, { text: SECRET }, { callId: SECRET }));
  await failure(store.getItem(`${SECRET}-key`, { callId: SECRET }));
  await failure(store.setItem(`${SECRET}-key`, { text: SECRET }, { callId: SECRET }));
  const text = lines.join("\n");
  for (const part of PARTS) {
    expect(text).not.toContain(part);
  }
  expect(text).toMatch(/:warning PUT .* 500 \d+ ms x-request-id=0123-abcd$/m);
  expect(text).toMatch(/:error PUT .* failed after \d+ ms: ECONNRESET$/m);
});

test("spans carry the masked path, and the request carries the span", async () => {
  const spans: { name: string; attributes: Record<string, unknown>; status: string | undefined; isEnded: boolean }[] =
    [];
  const context: TracingContext = { setValue: () => context, getValue: () => undefined, deleteValue: () => context };
  const instrumenter: Instrumenter = {
    startSpan(name, { spanAttributes = {} }) {
      const span = {
        name,
        attributes: { ...spanAttributes } as Record<string, unknown>,
        status: undefined as string | undefined,
        isEnded: false,
      };
      spans.push(span);
      return {
        tracingContext: context,
        span: {
          setStatus: ({ status }) => void Object.assign(span, { status }),
          setAttribute: (attribute, value) => void Object.assign(span.attributes, { [attribute]: value }),
          end: () => void Object.assign(span, { isEnded: true }),
          recordException: () => {},
          isRecording: () => true,
        },
      };
    },
    withContext: (_, callback, ...args) => callback(...args),
    parseTraceparentHeader: () => context,
    createRequestHeaders: () => ({ traceparent: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01" }),
  };
  useInstrumenter(instrumenter);
  const { server, store } = await openScripted();
  spans.length = 0;
  server.answer({ status: 404, body: {} }, "reset");
  await store.getItem(`${SECRET}-key`);
  await failure(store.setItem(`${SECRET}-key`, { text: SECRET }));
  expect(
    spans.map(({ name, attributes, status, isEnded }) => [name, attributes["http.status_code"], status, isEnded]),
  ).toEqual([
    ["HTTP GET", 404, "error", true],
    ["HTTP PUT", undefined, "error", true],
  ]);
  expect(JSON.stringify(spans)).toContain("***/storage/state_stores/*/items/*");
  for (const part of PARTS) {
    expect(JSON.stringify(spans)).not.toContain(part);
  }
  expect(server.seen[0]?.headers["traceparent"]).toMatch(/^00-0123/);
});
