import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
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
import type { ChatModel } from "./model.ts";
import type { Replica } from "./replica.ts";
import type { TwoReplicas } from "./two-replicas.ts";

/** What one user decides, reads, and never sees of others. */
export function userTests(replicas: TwoReplicas): void {
  const { refunds } = replicas;
  let model: ChatModel;
  let first: Replica;
  let second: Replica;

  beforeAll(async () => {
    ({ model, first, second } = await replicas.started());
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
}
