import { randomUUID } from "node:crypto";
import { startFaultProxy } from "@agentfw/test-servers";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type BackendName, openStores } from "../../src/stores.ts";
import {
  eventsOf,
  messagesIn,
  modelCallsOf,
  newChat,
  newUser,
  rawSend,
  say,
  send,
  sendUntilAnswered,
  spoken,
  stream,
} from "./client.ts";
import { type ChatModel, saidIn, startModel } from "./model.ts";
import { type Replica, startReplica } from "./replica.ts";

/** What two replicas promise that share one database and nothing else. */
export function replicaTests(backend: BackendName): void {
  const url = inject(backend === "postgres" ? "postgresUrl" : "redisUrl");
  let model: ChatModel;
  let first: Replica;
  let second: Replica;

  beforeAll(async () => {
    model = await startModel();
    [first, second] = await Promise.all([startReplica({ backend, url, model }), startReplica({ backend, url, model })]);
  });

  afterAll(async () => {
    await Promise.all([first?.kill(), second?.kill()]);
    await model?.close();
  });

  async function oneMore(...args: string[]): Promise<Replica> {
    const replica = await startReplica({ backend, url, model, args });
    onTestFinished(() => replica.kill());
    return replica;
  }

  /** What was paid back for an order until now, at both replicas. */
  async function refunds(order: string): Promise<Record<string, unknown>[]> {
    const mark = `/chats/${randomUUID()}/messages`;
    await Promise.all([first, second].map((replica) => send(replica, "nobody", "GET", mark)));
    // A log comes in order, but not at once.
    await expect.poll(() => [first, second].every((replica) => replica.logText().includes(mark))).toBe(true);
    const lines = [first, second].flatMap((replica) => replica.log());
    return lines.filter((line) => line["msg"] === "refunded" && line["order"] === order);
  }

  test("a chat goes on at another replica when the first is killed", async () => {
    const user = newUser();
    const doomed = await oneMore();
    const chat = await newChat(doomed, user);
    expect((await say(doomed, user, chat, "I like jazz")).body).toEqual({
      text: "I heard: I like jazz",
      approvals: [],
    });
    await doomed.kill();
    expect((await say(second, user, chat, `What do I like? ${chat}`)).status).toBe(200);
    const [request] = model.asked(`What do I like? ${chat}`);
    expect(saidIn(request!)).toEqual(["I like jazz", `What do I like? ${chat}`]);
    expect(spoken(await messagesIn(second, user, chat))).toEqual([
      "user: I like jazz",
      "assistant: I heard: I like jazz",
      `user: What do I like? ${chat}`,
      `assistant: I heard: What do I like? ${chat}`,
    ]);
  });

  test("a message whose replica is killed while it answers is answered by another one under its key", async () => {
    const user = newUser();
    const doomed = await oneMore("--lease-ms", "1000");
    const chat = await newChat(doomed, user);
    const text = `hang once ${chat}`;
    let isFirst = true;
    model.on(text, () => {
      const reply = isFirst ? ("silence" as const) : { answer: { text: "Here I am." } };
      isFirst = false;
      return reply;
    });
    const lost = say(doomed, user, chat, text, { key: "k1" }).catch((error: unknown) => error);
    await expect.poll(() => model.asked(text).length).toBe(1);
    await doomed.kill();
    expect(await lost).toBeInstanceOf(Error);
    expect((await say(second, user, chat, text, { key: "k1" })).body["text"]).toBe("Here I am.");
    expect(spoken(await messagesIn(first, user, chat))).toEqual([`user: ${text}`, "assistant: Here I am."]);
  });

  test("a replica that stood still and was taken for dead adds nothing to what was said meanwhile", async () => {
    const user = newUser();
    const sleeper = await oneMore("--lease-ms", "1000");
    const chat = await newChat(sleeper, user);
    const text = `slowly ${chat}`;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    model.on(text, async (request) => {
      await released;
      return { answer: { text: `I was told ${saidIn(request).length}.` } };
    });
    const slow = sendUntilAnswered([sleeper], user, `/chats/${chat}/messages`, { key: "k1", body: { text } });
    await expect.poll(() => model.asked(text).length).toBe(1);
    sleeper.process.kill("SIGSTOP");
    expect((await say(second, user, chat, "meanwhile")).status).toBe(200);
    sleeper.process.kill("SIGCONT");
    release();
    expect(await slow).toMatchObject({ status: 200, body: { text: "I was told 2." } });
    expect(spoken(await messagesIn(second, user, chat))).toEqual([
      "user: meanwhile",
      "assistant: I heard: meanwhile",
      `user: ${text}`,
      "assistant: I was told 2.",
    ]);
  });

  test("twenty messages at once, at both replicas, are all stored, each whole, and cost twenty model calls", async () => {
    const user = newUser();
    const chat = await newChat(first, user);
    const texts = Array.from({ length: 20 }, (_, index) => `number ${index} of ${chat}`);
    const answers = await Promise.all(
      texts.map((text, index) =>
        sendUntilAnswered(index % 2 === 0 ? [first] : [second], user, `/chats/${chat}/messages`, {
          key: `k${index}`,
          body: { text },
        }),
      ),
    );
    expect(answers.map(({ status, body }) => [status, body["text"]])).toEqual(
      texts.map((text) => [200, `I heard: ${text}`]),
    );
    const messages = spoken(await messagesIn(second, user, chat));
    const turns = texts.map((text) => [`user: ${text}`, `assistant: I heard: ${text}`].join());
    const stored = messages.flatMap((line, index) => (index % 2 === 0 ? [[line, messages[index + 1]].join()] : []));
    expect(stored.toSorted()).toEqual(turns.toSorted());
    // Each replica counts in the same session, and none undoes what the other has counted.
    expect(await modelCallsOf(first, user, chat)).toBe(20);
    expect(model.asked(`of ${chat}`)).toHaveLength(20);
  });

  test("a request that is sent again, also elsewhere and as a stream, is one turn and one model call", async () => {
    const user = newUser();
    const chat = await newChat(first, user);
    const text = `only once ${chat}`;
    const answer = await say(first, user, chat, text, { key: "k1" });
    expect(answer.headers.get("idempotency-key")).toBe("k1");
    for (const replica of [first, second]) {
      expect((await say(replica, user, chat, text, { key: "k1" })).body).toEqual(answer.body);
      const events = await stream(replica, user, chat, text, { key: "k1" });
      expect(events.at(-1)).toEqual({ event: "done", data: answer.body });
    }
    expect(model.asked(text)).toHaveLength(1);
    expect(await modelCallsOf(second, user, chat)).toBe(1);
    expect(await messagesIn(second, user, chat)).toHaveLength(2);
  });

  test("a request that both replicas get at once is one turn", async () => {
    const user = newUser();
    const chat = await newChat(first, user);
    const text = `twins ${chat}`;
    const path = `/chats/${chat}/messages`;
    const answers = await Promise.all(
      [first, second, first, second].map((replica) =>
        sendUntilAnswered([replica], user, path, { key: "k1", body: { text } }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body["text"]}`))).toEqual(
      new Set([`200 I heard: ${text}`]),
    );
    expect(spoken(await messagesIn(first, user, chat))).toEqual([`user: ${text}`, `assistant: I heard: ${text}`]);
    expect(model.asked(text)).toHaveLength(1);
  });

  test("without a key, the answer names the one under which the request may be sent again", async () => {
    const user = newUser();
    const chat = await newChat(first, user);
    const answer = await say(first, user, chat, `nameless ${chat}`);
    const key = answer.headers.get("idempotency-key") ?? "";
    expect((await say(second, user, chat, `nameless ${chat}`, { key })).body).toEqual(answer.body);
    expect(model.asked(`nameless ${chat}`)).toHaveLength(1);
  });

  test("another text under the same key gets an answer of its own", async () => {
    const user = newUser();
    const chat = await newChat(first, user);
    await say(first, user, chat, "one", { key: "k1" });
    expect((await say(second, user, chat, "two", { key: "k1" })).body["text"]).toBe("I heard: two");
    expect(await messagesIn(first, user, chat)).toHaveLength(4);
  });

  test("a chat that is made again under the same key is the same chat", async () => {
    const user = newUser();
    const one = await send(first, user, "POST", "/chats", { key: "k1", body: { title: "Trip" } });
    const two = await send(second, user, "POST", "/chats", { key: "k1", body: { title: "Trip" } });
    expect([one.status, two.status, two.body]).toEqual([201, 201, one.body]);
    expect((await send(first, user, "GET", "/chats")).body["chats"]).toEqual([one.body]);
  });

  test("chats are listed page by page, each once, and only to their owner", async () => {
    const user = newUser();
    const ids: string[] = [];
    for (const replica of [first, second, first, second, first]) {
      ids.push(await newChat(replica, user));
    }
    await newChat(first, newUser());
    const listed: string[] = [];
    for (let cursor: unknown = ""; cursor !== undefined; ) {
      const query = cursor === "" ? "" : `&cursor=${encodeURIComponent(String(cursor))}`;
      const { body } = await send(second, user, "GET", `/chats?limit=2${query}`);
      listed.push(...(body["chats"] as { id: string }[]).map(({ id }) => id));
      cursor = body["cursor"];
    }
    expect(listed).toEqual(ids);
  });

  describe("approvals", () => {
    async function asked(user: string): Promise<{ chat: string; order: string; id: string }> {
      const chat = await newChat(first, user);
      const order = `refund ${chat.slice(0, 8)}`;
      const { body } = await say(first, user, chat, order);
      expect(body).toMatchObject({ text: "", approvals: [{ type: "approval_request", tool: "refund_order" }] });
      return { chat, order, id: (body["approvals"] as { id: string }[])[0]!.id };
    }

    const answer = (approved: boolean, id: string) => ({ body: { answers: [{ id, approved }] } });

    test("are asked at one replica and answered at the other, and what was approved happens once", async () => {
      const user = newUser();
      const { chat, order, id } = await asked(user);
      await say(second, user, chat, `by the way ${chat}`);
      expect(await refunds(order)).toEqual([]);
      const given = await send(second, user, "POST", `/chats/${chat}/approvals`, answer(true, id));
      expect(given.body["text"]).toContain('"refundedCents":500');
      expect(await refunds(order)).toMatchObject([{ cents: 500, idempotencyKey: expect.any(String) }]);
      // Sent again, at either of them, it is the same answer.
      for (const replica of [first, second]) {
        expect((await send(replica, user, "POST", `/chats/${chat}/approvals`, answer(true, id))).body).toEqual(
          given.body,
        );
      }
      expect(await refunds(order)).toHaveLength(1);
    });

    test("that are refused let nothing happen, and stay refused", async () => {
      const user = newUser();
      const { chat, order, id } = await asked(user);
      const given = await send(second, user, "POST", `/chats/${chat}/approvals`, answer(false, id));
      expect(given.body["text"]).toContain("refused");
      const other = await send(first, user, "POST", `/chats/${chat}/approvals`, answer(true, id));
      expect([other.status, other.body["code"]]).toEqual([409, "already_answered"]);
      expect(await refunds(order)).toEqual([]);
    });

    test("that both replicas get at once, under two keys, let it happen once", async () => {
      const user = newUser();
      const { chat, order, id } = await asked(user);
      const path = `/chats/${chat}/approvals`;
      await Promise.all(
        [first, second].map((replica, index) =>
          sendUntilAnswered([replica], user, path, { ...answer(true, id), key: `k${index}` }),
        ),
      );
      expect(await refunds(order)).toHaveLength(1);
    });

    test("that nobody asked for are not found", async () => {
      const user = newUser();
      const chat = await newChat(first, user);
      const { status } = await send(first, user, "POST", `/chats/${chat}/approvals`, answer(true, "r:o0/call_1"));
      expect(status).toBe(404);
    });
  });

  test("the chat of another user is not found, by any route", async () => {
    const [ann, bob] = [newUser("ann"), newUser("bob")];
    const chat = await newChat(first, ann);
    const { body } = await say(first, ann, chat, `refund ${chat}`);
    const before = await messagesIn(first, ann, chat);
    const [{ id }] = body["approvals"] as [{ id: string }];
    const routes = [
      ["GET", "/messages", {}],
      ["POST", "/messages", { body: { text: "hello" } }],
      ["POST", "/messages", { body: { text: "hello" }, headers: { accept: "text/event-stream" } }],
      ["POST", "/approvals", { body: { answers: [{ id, approved: true }] } }],
      ["DELETE", "", {}],
    ] as const;
    for (const replica of [first, second]) {
      for (const [method, path, options] of routes) {
        const foreign = await send(replica, bob, method, `/chats/${chat}${path}`, options);
        const unknown = await send(replica, bob, method, `/chats/${randomUUID()}${path}`, options);
        expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
      }
      expect((await send(replica, bob, "GET", "/chats")).body["chats"]).toEqual([]);
      expect((await send(replica, bob, "DELETE", "/users/me")).status).toBe(204);
    }
    expect(await messagesIn(second, ann, chat)).toEqual(before);
    expect(await refunds(`refund ${chat}`)).toEqual([]);
  });

  describe("streams", () => {
    test("give the text in pieces and then what a plain request gets", async () => {
      const user = newUser();
      const chat = await newChat(first, user);
      const response = await rawSend(first, user, "POST", `/chats/${chat}/messages`, {
        body: { text: "a longer text in pieces" },
        headers: { accept: "text/event-stream" },
      });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const pieces: unknown[] = [];
      let done: unknown;
      for await (const { event, data } of eventsOf(response)) {
        if (event === "text") {
          pieces.push(data["text"]);
        } else {
          done = { event, data };
        }
      }
      const text = "I heard: a longer text in pieces";
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join("")).toBe(text);
      expect(done).toEqual({ event: "done", data: { text, approvals: [] } });
      // It is stored when the stream has ended.
      expect(spoken(await messagesIn(second, user, chat)).at(-1)).toBe(`assistant: ${text}`);
    });

    test.each(["text/event-stream", "application/json"])("whose client leaves are given up (%s)", async (accept) => {
      const user = newUser();
      const chat = await newChat(first, user);
      const text = `never ends ${chat}`;
      model.on(text, () => ({ answer: { text: "I begin, and ..." }, delivery: { stallAfterBytes: 800 } }));
      const leaving = new AbortController();
      const response = rawSend(first, user, "POST", `/chats/${chat}/messages`, {
        body: { text },
        headers: { accept },
        signal: leaving.signal,
      });
      await expect.poll(() => model.asked(text).length).toBe(1);
      leaving.abort();
      await response.then((left) => left.text()).catch(() => undefined);
      expect(await model.asked(text)[0]!.outcome).toBe("cancelled");
      // The chat is free for the next message, which finds nothing of the one that was given up.
      expect((await say(first, user, chat, `next ${chat}`)).status).toBe(200);
      expect(spoken(await messagesIn(second, user, chat))[0]).toBe(`user: next ${chat}`);
      await expect.poll(() => modelCallsOf(second, user, chat)).toBe(2);
    });

    test("that fail on the way say so, and the same request ends well later", async () => {
      const user = newUser();
      const chat = await newChat(first, user);
      const text = `breaks off ${chat}`;
      let isFirst = true;
      model.on(text, () => {
        const reply = { answer: { text: "This is a whole answer." }, delivery: isFirst ? { cutAfterBytes: 900 } : {} };
        isFirst = false;
        return reply;
      });
      const events = await stream(first, user, chat, text, { key: "k1" });
      expect(events[0]?.event).toBe("text");
      expect(events.at(-1)).toMatchObject({ event: "problem", data: { status: 503, code: "unavailable" } });
      expect(await messagesIn(first, user, chat)).toEqual([]);
      const again = await stream(second, user, chat, text, { key: "k1" });
      expect(again.at(-1)).toMatchObject({ event: "done", data: { text: "This is a whole answer." } });
      expect(await messagesIn(first, user, chat)).toHaveLength(2);
    });
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
