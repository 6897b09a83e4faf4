import { beforeAll, expect, test } from "vitest";
import { messagesIn, modelCallsOf, newChat, newUser, say, send, sendUntilAnswered, spoken, stream } from "./client.ts";
import { type ChatModel, saidIn } from "./model.ts";
import type { Replica } from "./replica.ts";
import type { TwoReplicas } from "./two-replicas.ts";

/** What becomes of messages when replicas die, meet, or are asked again. */
export function turnTests(replicas: TwoReplicas): void {
  const { oneMore } = replicas;
  let model: ChatModel;
  let first: Replica;
  let second: Replica;

  beforeAll(async () => {
    ({ model, first, second } = await replicas.started());
  });

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
}
