import type { ChatClient } from "@agentfw/core";
import { OpenAIChatClient, openAIOptionsFromEnvironment } from "@agentfw/openai";
import type { FastifyInstance } from "fastify";
import { logged } from "./errors.ts";
import { HELP, type Options, parseOptions, UsageError } from "./options.ts";
import { makeServer } from "./server.ts";
import { openStores } from "./stores.ts";

/** For people; the log goes to standard output. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function start(options: Options): Promise<void> {
  // Nothing of the demonstration is loaded where there is a database and a model.
  const database =
    options.url === undefined
      ? await (await import("./demo/database.ts")).startDemoDatabase(options.backend)
      : undefined;
  const stores = await openStores(options.backend, options.url ?? database?.url ?? "");
  const app: FastifyInstance = makeServer({
    stores,
    client: await modelClient(),
    shop: {
      // In place of your payment service, which is given the key too.
      refund: async (order, cents, { idempotencyKey }) => app.log.info({ order, cents, idempotencyKey }, "refunded"),
    },
    signIn: options.signIn,
    logger: { level: options.logLevel },
    limits: options,
  });
  endWith(app, async () => void (await database?.stop()));
  const address = await app.listen({ host: options.host, port: options.port });
  tell(`Chat server on ${address}, process ${process.pid}.`);
  if (database !== undefined) {
    tell(`Its ${options.backend} ends with it; --url says where there is one that stays.`);
  }
  if (options.demoToken !== undefined) {
    tell(`Sign in as demo with the token ${options.demoToken}, or set CHAT_TOKENS.`);
  }
}

/** The real model when there is a key for it, else one that is none. */
async function modelClient(): Promise<ChatClient> {
  if (process.env["OPENAI_API_KEY"]) {
    return new OpenAIChatClient({ model: "gpt-4o-mini", ...openAIOptionsFromEnvironment() });
  }
  const { startDemoModel } = await import("./demo/model.ts");
  const { baseURL, apiKey } = await startDemoModel();
  tell("Without OPENAI_API_KEY, answers come from a stand-in that is no model.");
  return new OpenAIChatClient({ model: "stand-in", baseURL, apiKey });
}

/** The first signal asks for an orderly end; a second one does not wait for it. */
function endWith(app: FastifyInstance, after: () => Promise<void>): void {
  let isEnding = false;
  const end = async () => {
    if (isEnding) {
      process.exit(1);
    }
    isEnding = true;
    try {
      await app.close();
      await after();
      process.exit(0);
    } catch (error) {
      app.log.error({ error: logged(error) }, "failed to end");
      process.exit(1);
    }
  };
  process.on("SIGTERM", () => void end());
  process.on("SIGINT", () => void end());
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
  } else {
    await start(options);
  }
} catch (error) {
  const isUsage = error instanceof UsageError;
  tell(`chat-server: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(isUsage ? 2 : 1);
}
