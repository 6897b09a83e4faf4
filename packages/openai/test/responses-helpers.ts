import {
  type Fields,
  type StrictResponsesOptions,
  type StrictResponsesServer,
  startStrictResponsesServer,
} from "@agentfw/test-servers/openai";
import { onTestFinished } from "vitest";
import { OpenAIResponsesClient, type OpenAIResponsesSettings } from "../src/index.ts";

/** A server for this test and a client that talks to it, without retries. */
export async function connectResponses(
  settings: Partial<OpenAIResponsesSettings> = {},
  serverOptions: StrictResponsesOptions = {},
): Promise<{ server: StrictResponsesServer; client: OpenAIResponsesClient }> {
  const server = await startStrictResponsesServer(serverOptions);
  onTestFinished(() => server.close());
  return { server, client: clientOf(server, settings) };
}

/** Another client of a server, as another process has it. */
export function clientOf(
  { baseURL, apiKey }: StrictResponsesServer,
  settings: Partial<OpenAIResponsesSettings> = {},
): OpenAIResponsesClient {
  return new OpenAIResponsesClient({ model: "test-model", apiKey, baseURL, maxRetries: 0, ...settings });
}

/** The input of a request, as `role: text`, `call id`, `result id: text` or `reasoning`. */
export function shapeOf(body: Fields | undefined): string[] {
  const input: readonly Fields[] = Array.isArray(body?.["input"]) ? body["input"] : [];
  return input.map((item) => {
    switch (item["type"]) {
      case "function_call":
        return `call ${item["call_id"]}`;
      case "function_call_output":
        return `result ${item["call_id"]}: ${item["output"]}`;
      case "message":
        return `${item["role"]}: ${typeof item["content"] === "string" ? item["content"] : "parts"}`;
      default:
        return String(item["type"]);
    }
  });
}
