import { randomUUID } from "node:crypto";
import type { ChatClient } from "@agentfw/core";
import { HistoryProvider, SessionStore } from "@agentfw/core";
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from "fastify";
import { makeAgent, type Shop } from "./agent.ts";
import { Chats } from "./chats.ts";
import { HttpProblem, logFailure, logged, problemBody } from "./errors.ts";
import { chatRoutes } from "./routes.ts";
import type { SignIn } from "./sign-in.ts";
import type { Stores } from "./stores.ts";
import { Turns } from "./turns.ts";
import { zodValidator } from "./validation.ts";

/** What a server is made of. */
export interface ServerParts {
  readonly stores: Stores;
  readonly client: ChatClient;
  readonly shop: Shop;
  readonly signIn: SignIn;
  readonly limits?: Partial<ServerLimits> | undefined;
  readonly logger: NonNullable<FastifyServerOptions["logger"]>;
}

/** The limits of a server. */
export interface ServerLimits {
  /** Longest time for a run, its wait for the chat and its tools included. @default 120,000 */
  readonly runTimeoutMs: number;
  /** How long runs may go on when the server is told to end. @default 25,000 */
  readonly shutdownGraceMs: number;
  /** How long a chat waits for a replica that died in the middle of a turn; 0 for replicas that do not wait. @default 10,000 */
  readonly leaseMs: number;
  /** How long a message waits for the answer to the one before it. @default 30,000 */
  readonly turnWaitMs: number;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Who signed in. */
    owner: string;
  }
}

const LIMITS: ServerLimits = { runTimeoutMs: 120_000, shutdownGraceMs: 25_000, leaseMs: 10_000, turnWaitMs: 30_000 };

/** Newest messages that the model is shown. */
const MAX_MESSAGES = 60;

/** One replica. Keeps nothing of a chat; closes the stores when it is closed. */
export function makeServer(parts: ServerParts): FastifyInstance {
  const { stores, client, shop } = parts;
  const limits = { ...LIMITS, ...parts.limits };
  const app = Fastify({
    logger: parts.logger,
    bodyLimit: 64 * 1024,
    // For a request to come in; how long its answer may take is the run's own limit.
    requestTimeout: 15_000,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 128 },
  });
  app.removeContentTypeParser("text/plain");
  app.setValidatorCompiler(zodValidator);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler(() => {
    throw new HttpProblem(404, "not_found", "There is no such address.");
  });

  const onDiagnostic = ({ cause, ...event }: { readonly type: string; readonly cause?: unknown }) =>
    app.log.warn({ ...event, ...(cause === undefined ? {} : { cause: logged(cause) }) }, "diagnostic");
  const history = new HistoryProvider(stores.history, {
    maxMessages: MAX_MESSAGES,
    conditionalAppend: true,
    onDiagnostic,
  });
  const agent = makeAgent(client, history, shop, onDiagnostic);
  const sessions = new SessionStore(stores.state);
  const turns = new Turns(sessions, { leaseMs: limits.leaseMs, waitMs: limits.turnWaitMs });
  const onFailure = (message: string, error: unknown) => app.log.error({ error: logged(error) }, message);
  const chats = new Chats({ agent, history, sessions, turns, onFailure });

  const ending = endOf(app, limits.shutdownGraceMs, stores);
  healthRoutes(app, stores);
  void app.register(async (signedIn) => {
    signedIn.decorateRequest("owner", "");
    signedIn.addHook("onRequest", async (request, reply) => {
      void reply.header("cache-control", "no-store");
      const owner = parts.signIn(request.headers);
      if (owner === undefined) {
        void reply.header("www-authenticate", "Bearer");
        throw new HttpProblem(401, "unauthorized", "Sign in first.");
      }
      request.owner = owner;
    });
    chatRoutes(signedIn, { chats, stores, ending, runTimeoutMs: limits.runTimeoutMs });
  });
  return app;
}

/** Closing waits for the answers that are under way, for the grace; then their runs are given up, and the stores closed. */
function endOf(app: FastifyInstance, graceMs: number, stores: Stores): AbortSignal {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;
  app.addHook("preClose", async () => {
    const reason = new HttpProblem(
      503,
      "unavailable",
      "The service restarts. Send the request again under the same key.",
      {
        retryAfterSeconds: 1,
      },
    );
    timer = setTimeout(() => ending.abort(reason), graceMs);
    isClosing = true;
  });
  // A connection that a client keeps for its next request would keep the server, too.
  app.addHook("onResponse", async () => {
    if (isClosing) {
      setImmediate(() => app.server.closeIdleConnections());
    }
  });
  app.addHook("onClose", async () => {
    clearTimeout(timer);
    await stores.close();
  });
  return ending.signal;
}

/** `/healthz`: the process answers. `/readyz`: so does its database. */
function healthRoutes(app: FastifyInstance, { history, state }: Stores): void {
  app.get("/healthz", { logLevel: "warn" }, async () => ({ status: "ok" }));
  app.get("/readyz", { logLevel: "warn" }, async () => {
    await Promise.all([
      state.get("readyz"),
      history.read({ owner: null, source: "readyz", session: "readyz" }, { last: 1 }),
    ]);
    return { status: "ok" };
  });
}

async function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const problem = logFailure(request.log, error);
  if (problem.retryAfterSeconds !== undefined) {
    void reply.header("retry-after", problem.retryAfterSeconds);
  }
  await reply.code(problem.status).type("application/problem+json").send(problemBody(problem));
}
