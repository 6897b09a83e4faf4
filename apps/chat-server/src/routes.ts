import { createHash, randomUUID } from "node:crypto";
import type { MessageInput } from "@agentfw/core";
import { isAgentFrameworkError } from "@agentfw/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as z from "zod";
import type { Chats, Page } from "./chats.ts";
import { HttpProblem, logFailure } from "./errors.ts";
import { eventStream } from "./event-stream.ts";
import { runSignal } from "./run-signal.ts";
import type { Stores } from "./stores.ts";
import type { ZodTypes } from "./validation.ts";
import { answerView } from "./views.ts";

/** What the routes are made of. */
export interface RouteParts {
  readonly chats: Chats;
  readonly stores: Stores;
  /** Fires when runs that are under way are to be given up. */
  readonly ending: AbortSignal;
  readonly runTimeoutMs: number;
}

/** Ids and keys: no character that an address or a log would have to quote. */
const name = z.string().regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -");

const headers = z.object({ "idempotency-key": name.optional() });
const chatParams = z.object({ id: name });
const limit = z.coerce.number().int().min(1).max(100).default(20);
const cursor = z.string().max(1_000).optional();
const newChat = z
  .strictObject({ title: z.string().max(200).optional() })
  .nullish()
  .transform((body) => body ?? {});
const newMessage = z.strictObject({ text: z.string().trim().min(1).max(16_000) });
const approval = z.strictObject({
  id: z.string().min(1).max(500),
  approved: z.boolean(),
  reason: z.string().max(1_000).optional(),
});
const newApprovals = z.strictObject({ answers: z.array(approval).min(1).max(20) });

/** The routes of a user who is signed in. */
export function chatRoutes(instance: FastifyInstance, parts: RouteParts): void {
  const { chats, stores } = parts;
  const app = instance.withTypeProvider<ZodTypes>();

  app.post("/chats", { schema: { headers, body: newChat } }, async ({ owner, headers, body }, reply) => {
    // The key of the request becomes the id of the chat, so that a request that is sent again makes no second one.
    const id = headers["idempotency-key"];
    return reply.code(201).send(await chats.create(owner, { id, ...body }));
  });

  app.get("/chats", { schema: { querystring: z.object({ limit, cursor }) } }, async ({ owner, query }) => {
    const { items, cursor } = await paged(() => chats.list(owner, query));
    return { chats: items, cursor };
  });

  app.get(
    "/chats/:id/messages",
    { schema: { params: chatParams, querystring: z.object({ limit, cursor }) } },
    async ({ owner, params, query }) => {
      const options = { last: query.limit, before: query.cursor };
      const { items, cursor } = await paged(() => chats.messages(owner, params.id, options));
      return { messages: items, cursor };
    },
  );

  app.post(
    "/chats/:id/messages",
    { schema: { params: chatParams, headers, body: newMessage } },
    async (request, reply) => {
      const key = request.headers["idempotency-key"] ?? randomUUID();
      return run(
        parts,
        { chat: request.params.id, input: { role: "user", contents: request.body.text }, key },
        request,
        reply,
      );
    },
  );

  app.post(
    "/chats/:id/approvals",
    { schema: { params: chatParams, headers, body: newApprovals } },
    async (request, reply) => {
      const { answers } = request.body;
      const input = await chats.approvalInput(request.owner, request.params.id, answers);
      // Without a key the questions are the key: an answer that is sent again is the same request.
      const key = request.headers["idempotency-key"] ?? `approval-${hash(answers.map(({ id }) => id))}`;
      return run(parts, { chat: request.params.id, input, key }, request, reply);
    },
  );

  app.delete("/chats/:id", { schema: { params: chatParams } }, async ({ owner, params }, reply) => {
    await chats.remove(owner, params.id);
    return reply.code(204).send();
  });

  app.delete("/users/me", async ({ owner }, reply) => {
    await stores.erase(owner, {});
    return reply.code(204).send();
  });
}

interface AskedRun {
  readonly chat: string;
  readonly input: MessageInput;
  /** Under which the request may be sent again. */
  readonly key: string;
}

/** Answers with a run: as JSON, or as a stream of events where the client asks for one. */
async function run(
  { chats, ending, runTimeoutMs }: RouteParts,
  { chat, input, key }: AskedRun,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const signal = runSignal(reply, ending, runTimeoutMs);
  // A run of one name has one input. So another text under the same key is another run, and gets no answer of the first.
  const options = { runId: `${key}-${hash(input)}`, signal };
  // Also with an error: whoever sent no key may repeat the request under this one.
  void reply.header("idempotency-key", key);
  const { owner } = request;
  if (!request.headers.accept?.includes("text/event-stream")) {
    return answerView(await untilAborted(signal, chats.answer(owner, chat, input, options)));
  }
  const stream = eventStream(chats.stream(owner, chat, input, options), (error) => logFailure(request.log, error));
  const events = await untilAborted(signal, stream);
  // A proxy that collected pieces would make one of them all.
  void reply.header("x-accel-buffering", "no");
  return reply.type("text/event-stream").send(events);
}

/** Whatever an abort became on its way through timers and drivers: the reason is what counts. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** A cursor is the one thing in a listing that a client can get wrong. */
async function paged<T>(read: () => Promise<Page<T>>): Promise<Page<T>> {
  try {
    return await read();
  } catch (error) {
    if (isAgentFrameworkError(error, "configuration")) {
      throw new HttpProblem(400, "bad_request", "cursor: must be one that this chat or list gave", { cause: error });
    }
    throw error;
  }
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
