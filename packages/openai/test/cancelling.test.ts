import { describe, expect, it, vi } from "vitest";
import { BOTH_APIS } from "./both-apis.ts";
import { collect, message, rejection } from "./helpers.ts";

const QUESTION = [message("user", "Hi")];

describe.each(BOTH_APIS)("$name: an abort", ({ connect, makeClient, halfAnswer }) => {
  it("before the start sends nothing, asks for no key, and throws the reason", async () => {
    const apiKey = vi.fn(() => "test-key");
    const { server } = await connect();
    const client = makeClient({ apiKey, baseURL: server.baseURL });
    const reason = { why: "not an error" };
    expect(await rejection(collect(client.stream(QUESTION, { signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(server.requests).toHaveLength(0);
    expect(apiKey).not.toHaveBeenCalled();
  });

  it("while the service is silent throws the reason and cancels the request", async () => {
    const { client, server } = await connect({}, { respond: () => "silence" });
    const controller = new AbortController();
    const reading = rejection(collect(client.stream(QUESTION, { signal: controller.signal })));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort();
    expect(await reading).toBe(controller.signal.reason);
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("in the middle of an answer throws the reason, at once, and never ends like an answer", async () => {
    const { client, server } = await connect({}, { respond: halfAnswer });
    const controller = new AbortController();
    const pieces: unknown[] = [];
    const reading = (async () => {
      for await (const update of client.stream(QUESTION, { signal: controller.signal })) {
        pieces.push(update);
        setTimeout(() => controller.abort(new Error("enough")), 10);
      }
    })();
    await expect(reading).rejects.toThrow("enough");
    expect(pieces).toHaveLength(1);
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("between two pieces is noticed at the next one, even if that has arrived", async () => {
    const { client } = await connect();
    const controller = new AbortController();
    const iterator = client.stream(QUESTION, { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await iterator.next()).done).toBe(false);
    controller.abort(new Error("enough"));
    await expect(iterator.next()).rejects.toThrow("enough");
  });

  it("while a retry is waited for throws the reason and sends nothing more", async () => {
    const busy = { status: 503, body: {}, headers: { "retry-after": "50" } };
    const { client, server } = await connect({ maxRetries: 2 }, { respond: () => busy });
    const controller = new AbortController();
    const reading = rejection(collect(client.stream(QUESTION, { signal: controller.signal })));
    await expect.poll(() => server.requests.length).toBe(1);
    await server.requests[0]?.outcome;
    controller.abort();
    expect(await reading).toBe(controller.signal.reason);
    expect(server.requests).toHaveLength(1);
  });

  it("while the key is waited for throws the reason", async () => {
    const { server } = await connect();
    const apiKey = () => new Promise<string>(() => undefined);
    const client = makeClient({ apiKey, baseURL: server.baseURL });
    const reason = new Error("enough");
    const signal = AbortSignal.timeout(10);
    expect(await rejection(collect(client.stream(QUESTION, { signal })))).toBe(signal.reason);
    const controller = new AbortController();
    const reading = rejection(collect(client.stream(QUESTION, { signal: controller.signal })));
    controller.abort(reason);
    expect(await reading).toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it("leaves nothing behind on the signal of a finished call", async () => {
    const { client } = await connect();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await collect(client.stream(QUESTION, { signal }));
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledWith("abort", added.mock.calls[0]?.[1]);
  });
});

describe.each(BOTH_APIS)("$name: leaving the iteration", ({ connect, halfAnswer }) => {
  it("cancels the request", async () => {
    const { client, server } = await connect({}, { respond: halfAnswer });
    for await (const update of client.stream(QUESTION)) {
      expect(update.contents).toHaveLength(1);
      break;
    }
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("cancels it also while a piece is waited for, which then ends without one", async () => {
    const { client, server } = await connect({}, { respond: halfAnswer });
    const iterator = client.stream(QUESTION)[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    await iterator.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("before the first piece sends nothing, as does not starting", async () => {
    const { client, server } = await connect();
    const iterator = client.stream(QUESTION)[Symbol.asyncIterator]();
    client.stream(QUESTION);
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(server.requests).toHaveLength(0);
  });
});

describe.each(BOTH_APIS)("$name: silence", ({ connect, halfAnswer, answer }) => {
  it("before the answer is a timeout and cancels the request", async () => {
    const { client, server } = await connect({ timeoutMs: 50 }, { respond: () => "silence" });
    const failure = await rejection(collect(client.stream(QUESTION)));
    expect(failure).toMatchObject({ code: "timeout", retryable: true });
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("in the middle of the answer is a timeout after its pieces", async () => {
    const { client, server } = await connect({ timeoutMs: 200 }, { respond: halfAnswer });
    const pieces: unknown[] = [];
    const reading = (async () => {
      for await (const update of client.stream(QUESTION)) {
        pieces.push(update);
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: "timeout" });
    expect(pieces).toHaveLength(1);
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("is measured from piece to piece, and not while the reader takes its time", async () => {
    const { client, server } = await connect({ timeoutMs: 400 });
    server.reply(answer("slow but steady", { splitBytes: 300, pauseMs: 100 }));
    const start = performance.now();
    let isFirst = true;
    for await (const _ of client.stream(QUESTION)) {
      await new Promise((resolve) => setTimeout(resolve, isFirst ? 500 : 0));
      isFirst = false;
    }
    expect(performance.now() - start).toBeGreaterThan(450);
  });

  it("includes the retries", async () => {
    const busy = { status: 503, body: {}, headers: { "retry-after": "50" } };
    const { client } = await connect({ maxRetries: 5, timeoutMs: 100 }, { respond: () => busy });
    await expect(collect(client.stream(QUESTION))).rejects.toMatchObject({ code: "timeout" });
  });
});
