import { startFaultProxy } from "@agentfw/test-servers";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openStores } from "../../src/stores.ts";
import { messagesIn, newChat, newUser, say, send, sendUntilAnswered, spoken } from "./client.ts";
import { type ChatModel, saidIn } from "./model.ts";
import { type Replica, startReplica } from "./replica.ts";
import type { TwoReplicas } from "./two-replicas.ts";

/** What is there when the database is away, and what is gone when it was deleted. */
export function lossTests(replicas: TwoReplicas): void {
  const { backend, url } = replicas;
  let model: ChatModel;
  let first: Replica;
  let second: Replica;

  beforeAll(async () => {
    ({ model, first, second } = await replicas.started());
  });

  test("without its database a replica answers 503, never with an empty chat, and it recovers", async () => {
    const { hostname, port } = new URL(url);
    const proxy = await startFaultProxy({ host: hostname, port: Number(port || (backend === "redis" ? 6379 : 5432)) });
    const behind = Object.assign(new URL(url), { hostname: "127.0.0.1", port: String(proxy.port) }).href;
    const replica = await startReplica({ backend, url: behind, model, args: ["--lease-ms", "2000"] });
    onTestFinished(async () => {
      await replica.kill();
      await proxy.close();
    });
    const user = newUser();
    const chat = await newChat(replica, user);
    await say(replica, user, chat, "remember me");
    const text = `in the middle ${chat}`;
    let answer = (): void => undefined;
    model.on(text, async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { answer: { text: "Answered." } };
    });
    const interrupted = say(replica, user, chat, text, { key: "k1" });
    await expect.poll(() => model.asked(text).length).toBe(1);
    await proxy.refuse();
    answer();
    const requests = [
      ["GET", "/chats", {}],
      ["POST", "/chats", {}],
      ["GET", `/chats/${chat}/messages`, {}],
      ["POST", `/chats/${chat}/messages`, { body: { text: `down ${chat}` } }],
      ["POST", `/chats/${chat}/messages`, { body: { text: `down ${chat}` }, headers: { accept: "text/event-stream" } }],
      ["DELETE", `/chats/${chat}`, {}],
      ["DELETE", "/users/me", {}],
      ["GET", "/readyz", {}],
    ] as const;
    const answers = await Promise.all([
      interrupted,
      ...requests.map(([method, path, options]) => send(replica, user, method, path, options)),
    ]);
    for (const { status, headers, body } of answers) {
      expect([503, 504]).toContain(status);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
      expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|ECONN/);
    }
    expect((await send(replica, user, "GET", "/healthz")).status).toBe(200);
    expect(model.asked(`down ${chat}`)).toEqual([]);
    await proxy.pass();
    const again = sendUntilAnswered([replica, first], user, `/chats/${chat}/messages`, { key: "k1", body: { text } });
    await expect.poll(() => model.asked(text).length).toBe(2);
    answer();
    expect((await again).status).toBe(200);
    expect(saidIn(model.asked(text).at(-1)!)).toEqual(["remember me", text]);
    expect(spoken(await messagesIn(replica, user, chat))).toEqual([
      "user: remember me",
      "assistant: I heard: remember me",
      `user: ${text}`,
      "assistant: Answered.",
    ]);
  });

  describe("what was deleted", () => {
    async function storedOf(user: string): Promise<unknown[]> {
      const stores = await openStores(backend, url);
      try {
        const conversations = await stores.history.list?.({ owner: user });
        const items = await stores.state.listKeys({ owner: user });
        return [...(conversations?.items ?? []), ...items.keys];
      } finally {
        await stores.close();
      }
    }

    test("is gone: one chat, with its messages and its session", async () => {
      const user = newUser();
      const [gone, kept] = [await newChat(first, user), await newChat(first, user)];
      await say(first, user, gone, "forget this");
      await say(first, user, kept, "but not this");
      expect((await send(second, user, "DELETE", `/chats/${gone}`)).status).toBe(204);
      expect((await say(first, user, gone, "hello?")).status).toBe(404);
      expect((await send(second, user, "DELETE", `/chats/${gone}`)).status).toBe(404);
      expect(await messagesIn(first, user, kept)).toHaveLength(2);
      expect(JSON.stringify(await storedOf(user))).not.toContain(gone);
    });

    test("is gone: everything of one user, and nothing of others", async () => {
      const [user, other] = [newUser(), newUser()];
      const chats = await Promise.all(Array.from({ length: 12 }, () => newChat(first, user)));
      await Promise.all(chats.map((chat) => say(second, user, chat, "forget this")));
      const othersChat = await newChat(first, other);
      await say(first, other, othersChat, "but not this");
      expect((await send(second, user, "DELETE", "/users/me")).status).toBe(204);
      expect(await storedOf(user)).toEqual([]);
      expect((await send(first, user, "GET", "/chats")).body["chats"]).toEqual([]);
      expect(await messagesIn(first, other, othersChat)).toHaveLength(2);
    });

    test("does not come back with an answer that was under way", async () => {
      const user = newUser();
      const chats = [await newChat(first, user), await newChat(first, user)];
      const replies: (() => void)[] = [];
      model.on(`late ${user}`, async () => {
        await new Promise<void>((resolve) => replies.push(resolve));
        return { answer: { text: "Too late." } };
      });
      const late = chats.map((chat) => say(first, user, chat, `late ${user}`));
      await expect.poll(() => replies.length).toBe(2);
      await send(second, user, "DELETE", `/chats/${chats[0]}`);
      await send(second, user, "DELETE", "/users/me");
      for (const reply of replies) {
        reply();
      }
      expect((await Promise.all(late)).map(({ status }) => status)).toEqual([404, 404]);
      expect(await storedOf(user)).toEqual([]);
    });
  });
}
