import { isRestError, type PipelinePolicy } from "@azure/core-rest-pipeline";
import { type AzureLogger, createClientLogger } from "@azure/logger";
import { maskedUrl } from "../masked-url.ts";
import { stateOf } from "./call-state.ts";

const logger: AzureLogger = createClientLogger("agentfw-foundry-state-store");

/** The headers in which a service may say which request it was, in its own logs. */
export const REQUEST_IDS = ["x-request-id", "apim-request-id", "x-ms-request-id"] as const;

/**
 * Logs each try through `@azure/logger`: `AZURE_LOG_LEVEL` and `setLogLevel` turn it on. Names of stores and keys are masked in
 * the URL; headers and bodies are never logged, also not those of errors, which may repeat a value.
 */
export function logPolicy(): PipelinePolicy {
  return {
    name: "agentfwLogPolicy",
    async sendRequest(request, next) {
      const start = performance.now();
      const { method, url, requestId, headers } = request;
      const ids = shown("client-request-id", requestId) + shown("traceparent", headers.get("traceparent"));
      const name = `${method} ${maskedUrl(url)}${ids}`;
      logger.verbose(name);
      // From here on it is on its way.
      stateOf(request).mayHaveRun = true;
      const elapsed = () => `${Math.round(performance.now() - start)} ms`;
      try {
        const response = await next(request);
        const serviceIds = REQUEST_IDS.map((id) => shown(id, response.headers.get(id))).join("");
        const text = `${name} ${response.status} ${elapsed()}${serviceIds}`;
        (response.status < 400 ? logger.info : logger.warning)(text);
        return response;
      } catch (error) {
        logger.error(`${name} failed after ${elapsed()}: ${kindOf(error)}`);
        if (isRestError(error)) {
          // A body that broke off comes without it, and then nothing would tell whether this was a read.
          error.request ??= request;
        }
        throw error;
      }
    },
  };
}

/** An id as it may be logged; anything else that is sent in its place is left out. */
function shown(name: string, id: string | undefined): string {
  return id !== undefined && /^[0-9A-Fa-f-]{1,64}$/.test(id) ? ` ${name}=${id}` : "";
}

function kindOf(error: unknown): string {
  if (isRestError(error)) {
    return error.code ?? "transport error";
  }
  return error instanceof Error ? error.name : "unknown";
}
