import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { messagesIn, newChat, newUser, rawSend, say, send, stream } from "./support/client.ts";
import { type ChatModel, startModel } from "./support/model.ts";
import { type Replica, type ReplicaOptions, runProgram, startReplica, USER_HEADER } from "./support/replica.ts";

let model: ChatModel;
let replica: Replica;

beforeAll(async () => {
  model = await startModel();
  replica = await startReplica({ backend: "redis", url: inject("redisUrl"), model });
});

afterAll(async () => {
  await replica?.kill();
  await model?.close();
});

async function another(options: Partial<ReplicaOptions> = {}): Promise<Replica> {
  const started = await startReplica({ backend: "redis", url: inject("redisUrl"), model, ...options });
  onTestFinished(() => started.kill());
  return started;
}

describe("signing in", () => {
  test("with a token shows what its owner has, and without one nothing", async () => {
    const [ann, bob] = [newUser("ann"), newUser("bob")];
    const tokens = { "token-of-ann": ann, "token-of-bob": bob };
    const server = await another({ environment: { CHAT_USER_HEADER: "", CHAT_TOKENS: JSON.stringify(tokens) } });
    const get = async (headers: Record<string, string>) => (await fetch(`${server.url}/chats`, { headers })).status;
    const made = await fetch(`${server.url}/chats`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-ann" },
    });
    expect(made.status).toBe(201);
    // The database knows ann by her name, whatever let her in.
    expect((await send(replica, ann, "GET", "/chats")).body["chats"]).toEqual([await made.json()]);
    expect((await send(replica, bob, "GET", "/chats")).body["chats"]).toEqual([]);
    expect(await get({ authorization: "bearer token-of-bob" })).toBe(200);
    const strangers: Record<string, string>[] = [
      {},
      { authorization: "Bearer token-of-eve" },
      { authorization: "Bearer" },
      { authorization: "Basic token-of-ann" },
      { authorization: "Bearer token-of-ann token-of-bob" },
      { [USER_HEADER]: ann },
    ];
    for (const headers of strangers) {
      expect(await get(headers)).toBe(401);
    }
  });

  test("by a gateway's header takes one name, and nothing that is none", async () => {
    const get = (headers: [string, string][]) => fetch(`${replica.url}/chats`, { headers });
    expect((await get([[USER_HEADER, newUser()]])).status).toBe(200);
    const twice = await get([
      [USER_HEADER, "mallory"],
      [USER_HEADER, "ann"],
    ]);
    expect(twice.status).toBe(401);
    expect(twice.headers.get("www-authenticate")).toBe("Bearer");
    expect((await get([[USER_HEADER, " "]])).status).toBe(401);
    expect((await get([["authorization", "Bearer ann"]])).status).toBe(401);
  });

  test("is not asked by the routes of the machinery", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      expect((await fetch(`${replica.url}${path}`)).status).toBe(200);
    }
  });
});

describe("a request that makes no sense", () => {
  test.each([
    ["POST", "/messages", {}, "text: "],
    ["POST", "/messages", { text: 7 }, "text: "],
    ["POST", "/messages", { text: "  " }, "text: "],
    ["POST", "/messages", { text: "x".repeat(16_001) }, "text: "],
    ["POST", "/messages", { text: "hello", role: "system" }, '"role"'],
    ["POST", "/approvals", { answers: [] }, "answers: "],
    ["POST", "/approvals", { answers: [{ id: "a", approved: "yes" }] }, "answers.0.approved: "],
    ["GET", "/messages?limit=0", undefined, "limit: "],
    ["GET", "/messages?limit=101", undefined, "limit: "],
    ["GET", "/messages?cursor=made-up", undefined, "cursor: "],
  ])("%s %s %j is told what is wrong", async (method, path, body, text) => {
    const user = newUser();
    const chat = await newChat(replica, user);
    const answer = await send(replica, user, method, `/chats/${chat}${path}`, { body });
    expect([answer.status, answer.body["code"]]).toEqual([400, "bad_request"]);
    expect(answer.body["detail"]).toContain(text);
    expect(await messagesIn(replica, user, chat)).toEqual([]);
  });

  test("is told so, whatever else is wrong with it", async () => {
    const user = newUser();
    const chat = await newChat(replica, user);
    const post = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
      fetch(`${replica.url}/chats/${chat}/messages`, {
        method: "POST",
        body,
        headers: { [USER_HEADER]: user, ...headers },
      });
    expect((await post("{")).status).toBe(400);
    expect((await post("text=hello", { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(JSON.stringify({ text: "x".repeat(100_000) }))).status).toBe(413);
    expect((await say(replica, user, chat, "hello", { key: "no spaces" })).status).toBe(400);
    expect((await send(replica, user, "GET", "/chats?cursor=made-up")).status).toBe(400);
    expect((await send(replica, user, "GET", "/somewhere")).status).toBe(404);
    expect((await send(replica, user, "DELETE", "/chats/no.such/..%2f")).status).toBe(404);
  });
});

test("a request that is sent again after many others is refused, and adds nothing", async () => {
  const user = newUser();
  const chat = await newChat(replica, user);
  for (let number = 0; number <= 30; number += 1) {
    expect((await say(replica, user, chat, `number ${number}`, { key: `k${number}` })).status).toBe(200);
  }
  const again = await say(replica, user, chat, "number 0", { key: "k0" });
  expect([again.status, again.body["code"]]).toEqual([409, "conflict"]);
  expect(await messagesIn(replica, user, chat)).toHaveLength(62);
});

describe("a model service that", () => {
  const limit = { error: { message: "Too long.", type: "invalid_request_error", code: "context_length_exceeded" } };
  const noKey = { error: { message: "Incorrect API key: sk-secret", code: "invalid_api_key" } };
  test.each([
    ["refuses the key", { status: 401, body: noKey }, 502, "model"],
    ["is not there", { status: 404, body: { error: { message: "Unknown URL" } } }, 502, "model"],
    ["finds the conversation too long", { status: 400, body: limit }, 413, "too_large"],
    [
      "is overloaded",
      { status: 429, body: { error: { message: "Slow down." } }, headers: { "retry-after": "0" } },
      503,
      "unavailable",
    ],
  ])("%s", async (name, reply, status, code) => {
    const user = newUser();
    const chat = await newChat(replica, user);
    model.on(`${name} ${chat}`, () => reply);
    const answer = await say(replica, user, chat, `${name} ${chat}`);
    expect([answer.status, answer.body["code"]]).toEqual([status, code]);
    expect(answer.headers.has("retry-after")).toBe(status === 503);
    expect(JSON.stringify(answer.body)).not.toContain("sk-secret");
    expect(await messagesIn(replica, user, chat)).toEqual([]);
  });

  test("never answers costs as long as a run may take, and the chat is free again", async () => {
    const server = await another({ args: ["--run-timeout-ms", "500"] });
    const user = newUser();
    const chat = await newChat(server, user);
    model.on(`silence ${chat}`, () => "silence");
    const answer = await say(server, user, chat, `silence ${chat}`);
    expect([answer.status, answer.body["code"], answer.headers.get("retry-after")]).toEqual([504, "timeout", "2"]);
    expect((await say(replica, user, chat, "hello")).status).toBe(200);
  });
});

describe("SIGTERM", () => {
  test("lets answers that are under way end, and lets nothing new in", async () => {
    const server = await another();
    const user = newUser();
    const chat = await newChat(server, user);
    const text = `a long answer ${chat}`;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    model.on(text, async () => {
      await finished;
      return { answer: { text: "To the end." } };
    });
    const answer = stream(server, user, chat, text);
    await expect.poll(() => model.asked(text).length).toBe(1);
    server.process.kill("SIGTERM");
    await expect
      .poll(() =>
        fetch(`${server.url}/healthz`).then(
          ({ status }) => status,
          () => "refused",
        ),
      )
      .toBe("refused");
    finish();
    expect((await answer).at(-1)).toEqual({ event: "done", data: { text: "To the end.", approvals: [] } });
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(await messagesIn(replica, user, chat)).toHaveLength(2);
  });

  test("gives answers up that take longer than the grace, and another replica gives them at once", async () => {
    const server = await another({ args: ["--shutdown-grace-ms", "200"] });
    const user = newUser();
    const chat = await newChat(server, user);
    const text = `too long an answer ${chat}`;
    let isFirst = true;
    model.on(text, () => {
      const reply = isFirst ? ("silence" as const) : { answer: { text: "Here." } };
      isFirst = false;
      return reply;
    });
    const answer = say(server, user, chat, text, { key: "k1" });
    await expect.poll(() => model.asked(text).length).toBe(1);
    server.process.kill("SIGTERM");
    const { status, headers } = await answer;
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect((await say(replica, user, chat, text, { key: "k1" })).body["text"]).toBe("Here.");
  });
});

test("a client that never reads its stream holds the chat no longer than a run may take", async () => {
  const server = await another({ args: ["--run-timeout-ms", "1000", "--lease-ms", "1000"] });
  const user = newUser();
  const chat = await newChat(server, user);
  const choices = [{ index: 0, delta: { content: "x".repeat(1_000_000) }, finish_reason: null }];
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "test-model", choices };
  model.on(`flood ${chat}`, () => ({ stream: Array.from({ length: 20 }, () => chunk) }));
  const response = await rawSend(server, user, "POST", `/chats/${chat}/messages`, {
    body: { text: `flood ${chat}` },
    headers: { accept: "text/event-stream" },
  });
  expect((await say(replica, user, chat, "hello")).status).toBe(200);
  await response.body?.cancel();
});

test("the log says what happened, and holds no text, token, key or password", async () => {
  const user = newUser();
  const server = await another({
    environment: { CHAT_USER_HEADER: "", CHAT_TOKENS: JSON.stringify({ "secret-token": user }) },
  });
  const call = (method: string, path: string, body?: object) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: "Bearer secret-token", ...(body ? { "content-type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : null,
    });
  const { id } = (await (await call("POST", "/chats", { title: "secret title" })).json()) as { id: string };
  model.on(`secret failure ${id}`, () => ({
    status: 400,
    body: { error: { message: "secret detail" } },
  }));
  expect((await call("POST", `/chats/${id}/messages`, { text: "secret text" })).status).toBe(200);
  expect((await call("POST", `/chats/${id}/messages`, { text: `secret failure ${id}` })).status).toBe(502);
  expect((await call("POST", `/chats/${id}/messages`, { text: 7, secret: true })).status).toBe(400);
  await fetch(`${server.url}/chats`, { headers: { authorization: "Bearer secret-guess" } });
  await expect.poll(() => server.log().filter(({ msg }) => msg === "request completed").length).toBe(5);
  expect(server.logText()).toContain(`"url":"/chats/${id}/messages"`);
  expect(server.log().filter(({ level }) => level === 50)).toMatchObject([
    { error: { code: "model", cause: { code: "configuration", provider: "openai" } } },
  ]);
  for (const secret of ["secret", "I heard", user, "test-key"]) {
    expect(server.logText() + server.told()).not.toContain(secret);
  }
});

describe("the command line", () => {
  test("explains itself", async () => {
    const { code, output } = await runProgram(["--help"]);
    expect(code).toBe(0);
    for (const option of ["--backend", "--url", "--host", "--port", "--lease-ms", "CHAT_TOKENS", "OPENAI_API_KEY"]) {
      expect(output).toContain(option);
    }
  });

  test.each([
    [["--backend", "mongo"], {}, "--backend must be postgres or redis"],
    [["--port", "http"], {}, "--port must be a whole number"],
    [["--port", "70000"], {}, "--port must be a whole number"],
    [["--verbose"], {}, "Unknown option '--verbose'"],
    [["--log-level", "loud"], {}, "--log-level must be"],
    [[], { CHAT_TOKENS: "secret" }, "CHAT_TOKENS must be JSON"],
    [[], { CHAT_TOKENS: '{"secret":7}' }, "CHAT_TOKENS must be JSON"],
    [[], { CHAT_TOKENS: '{"secret":"ann"}', CHAT_USER_HEADER: "x-user" }, "do not go together"],
  ])("%j with %j makes no sense", async (args, environment: Record<string, string>, text) => {
    const { code, told } = await runProgram(args, environment);
    expect(code).toBe(2);
    expect(told).toContain(text);
    expect(told).not.toContain("secret");
  });

  test("an address that is none is an error that does not repeat its password", async () => {
    const { code, told } = await runProgram(["--backend", "redis", "--url", "redis://me:secret@host/zero"]);
    expect(code).toBe(1);
    expect(told).toContain("chat-server: url: must ");
    expect(told).not.toContain("secret");
  });
});
