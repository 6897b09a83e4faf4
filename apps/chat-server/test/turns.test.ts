import { OpenAIChatClient } from "@agentfw/openai";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import type { Shop } from "../src/agent.ts";
import { makeServer, type ServerLimits } from "../src/server.ts";
import { trustedHeader } from "../src/sign-in.ts";
import { type BackendName, openStores } from "../src/stores.ts";
import { messagesIn, newChat, newUser, say, send, sendUntilAnswered, spoken } from "./support/client.ts";
import { type ChatModel, startModel } from "./support/model.ts";
import { USER_HEADER } from "./support/replica.ts";

let model: ChatModel;

beforeAll(async () => {
  model = await startModel();
});

afterAll(() => model.close());

const nothing: Shop = { refund: async () => undefined };

function urlOf(backend: BackendName): string {
  return inject(backend === "postgres" ? "postgresUrl" : "redisUrl");
}

/** A replica whose shop and limits are the test's. */
async function server(backend: BackendName, shop: Shop, limits: Partial<ServerLimits>): Promise<{ url: string }> {
  const { OPENAI_BASE_URL: baseURL = "", OPENAI_API_KEY: apiKey = "" } = model.environment;
  const app = makeServer({
    stores: await openStores(backend, urlOf(backend)),
    client: new OpenAIChatClient({ model: "test-model", apiKey, baseURL }),
    shop,
    signIn: trustedHeader(USER_HEADER),
    logger: false,
    limits: { shutdownGraceMs: 0, ...limits },
  });
  onTestFinished(() => app.close());
  return { url: await app.listen({ host: "127.0.0.1", port: 0 }) };
}

/** The time until which a chat is somebody's, as its session says. */
async function turnOf(backend: BackendName, user: string, chat: string): Promise<number | undefined> {
  const stores = await openStores(backend, urlOf(backend));
  try {
    const item = await stores.state.get(`session:${JSON.stringify([user, chat])}`, { owner: user });
    return JSON.parse(item?.text ?? "{}").state?.turn?.until;
  } finally {
    await stores.close();
  }
}

describe.each(["postgres", "redis"] as const)("%s", (backend) => {
  test("a tool that one replica is running is finished before another one goes on with the chat", async () => {
    let finish = (): void => undefined;
    const paid: string[] = [];
    const shop: Shop = {
      refund: async (order) => {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        paid.push(order);
      },
    };
    const replicas = await Promise.all([1, 2].map(() => server(backend, shop, { leaseMs: 3_000 })));
    const [first, second] = replicas as [{ url: string }, { url: string }];
    const user = newUser();
    const chat = await newChat(first, user);
    const order = `refund ${chat.slice(0, 8)}`;
    const { body } = await say(first, user, chat, order);
    const [{ id }] = body["approvals"] as [{ id: string }];
    const approve = (replica: { url: string }, key?: string) =>
      send(replica, user, "POST", `/chats/${chat}/approvals`, {
        body: { answers: [{ id, approved: true }] },
        ...(key === undefined ? {} : { key }),
      });
    const approved = approve(first);
    await expect.poll(() => turnOf(backend, user, chat)).toBeDefined();
    const until = Number(await turnOf(backend, user, chat));
    const others = [approve(second), approve(second, "another-key"), say(second, user, chat, "and then?")];
    // Longer than the replica would be given if it did not say that it goes on.
    await expect.poll(() => Date.now()).toBeGreaterThan(until);
    finish();
    expect((await approved).body["text"]).toContain('"refundedCents":500');
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await others[0])?.body).toEqual((await approved).body);
    expect(paid).toEqual([order]);
    expect(spoken(await messagesIn(first, user, chat)).filter((line) => line.includes("interrupted"))).toEqual([]);
    expect(await turnOf(backend, user, chat)).toBeUndefined();
  });

  test("a message that waits too long for the one before it is told to come again", async () => {
    const [first, second] = [await server(backend, nothing, {}), await server(backend, nothing, { turnWaitMs: 50 })];
    const user = newUser();
    const chat = await newChat(first, user);
    let finish = (): void => undefined;
    model.on(`first of ${chat}`, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return { answer: { text: "At last." } };
    });
    const before = say(first, user, chat, `first of ${chat}`);
    await expect.poll(() => model.asked(`first of ${chat}`).length).toBe(1);
    const { status, headers, body } = await say(second, user, chat, "second");
    expect([status, headers.get("retry-after"), body["code"]]).toEqual([409, "2", "busy"]);
    finish();
    expect((await before).body["text"]).toBe("At last.");
    expect(await messagesIn(first, user, chat)).toHaveLength(2);
  });

  test("a run whose chat is deleted is given up, and its request to the model with it", async () => {
    const [first, second] = [await server(backend, nothing, { leaseMs: 1_000 }), await server(backend, nothing, {})];
    const user = newUser();
    const chat = await newChat(first, user);
    model.on(`deleted ${chat}`, () => "silence");
    const answer = say(first, user, chat, `deleted ${chat}`);
    await expect.poll(() => model.asked(`deleted ${chat}`).length).toBe(1);
    await send(second, user, "DELETE", `/chats/${chat}`);
    expect((await answer).status).toBe(404);
    expect(await model.asked(`deleted ${chat}`)[0]?.outcome).toBe("cancelled");
  });

  test("replicas that do not wait for each other still store every turn once and whole", async () => {
    const replicas = await Promise.all([1, 2].map(() => server(backend, nothing, { leaseMs: 0 })));
    const user = newUser();
    const chat = await newChat(replicas[0]!, user);
    const texts = Array.from({ length: 20 }, (_, index) => `number ${index}`);
    const path = `/chats/${chat}/messages`;
    const answers = await Promise.all(
      texts.map((text, index) =>
        sendUntilAnswered([replicas[index % 2]!], user, path, { key: `k${index}`, body: { text } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200));
    const messages = spoken(await messagesIn(replicas[1]!, user, chat));
    const turns = messages.flatMap((line, index) => (index % 2 === 0 ? [`${line}, ${messages[index + 1]}`] : []));
    expect(turns.toSorted()).toEqual(texts.map((text) => `user: ${text}, assistant: I heard: ${text}`).toSorted());
  });
});
