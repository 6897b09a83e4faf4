import {
  isRestError,
  type PipelinePolicy,
  type PipelineRequest,
  type PipelineResponse,
} from "@azure/core-rest-pipeline";
import { type AzureLogger, createClientLogger } from "@azure/logger";
import { maskedUrl } from "../masked-url.ts";
import { stateOf } from "./call-state.ts";

const logger: AzureLogger = createClientLogger("agentfw-foundry-state-store");

/**
 * Logs each try through `@azure/logger`: `AZURE_LOG_LEVEL` and `setLogLevel` turn it on. Names of stores and keys are masked in
 * the URL; headers and bodies are never logged, also not those of errors, which may repeat a value.
 */
export function logPolicy(): PipelinePolicy {
  return {
    name: "agentfwLogPolicy",
    async sendRequest(request, next) {
      const start = performance.now();
      const name = `${request.method} ${maskedUrl(request.url)} ${ids(request)}`;
      logger.verbose(name);
      // From here on it is on its way.
      stateOf(request).mayHaveRun = true;
      const elapsed = () => `${Math.round(performance.now() - start)} ms`;
      try {
        const response = await next(request);
        const text = `${name} ${response.status} ${elapsed()}${serviceIds(response)}`;
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

function ids(request: PipelineRequest): string {
  const trace = safe(request.headers.get("traceparent"));
  return `client-request-id=${safe(request.requestId)}${trace === "" ? "" : ` traceparent=${trace}`}`;
}

function serviceIds({ headers }: PipelineResponse): string {
  return ["x-request-id", "apim-request-id", "x-ms-request-id"]
    .map((name) => [name, safe(headers.get(name))])
    .filter(([, value]) => value !== "")
    .map(([name, value]) => ` ${name}=${value}`)
    .join("");
}

/** An id as it may be logged; anything else that a service sends there is left out. */
function safe(id: string | undefined): string {
  return id !== undefined && /^[0-9A-Fa-f-]{1,64}$/.test(id) ? id : "";
}

function kindOf(error: unknown): string {
  if (isRestError(error)) {
    return error.code ?? "transport error";
  }
  return error instanceof Error ? error.name : "unknown";
}
