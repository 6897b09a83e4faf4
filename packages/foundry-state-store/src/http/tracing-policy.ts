import type { PipelinePolicy } from "@azure/core-rest-pipeline";
import { createTracingClient, type TracingSpan } from "@azure/core-tracing";
import { maskedUrl } from "../masked-url.ts";

const client = createTracingClient({
  namespace: "Microsoft.Foundry",
  packageName: "@agentfw/foundry-state-store",
});

/**
 * A client span for each try, and the headers that carry it on, as the Azure libraries make them; but the URL of the span
 * is masked, because in this protocol a path says which store and which key.
 */
export function tracingPolicy(): PipelinePolicy {
  return {
    name: "agentfwTracingPolicy",
    async sendRequest(request, next) {
      const { span, updatedOptions } = client.startSpan(
        `HTTP ${request.method}`,
        { tracingOptions: request.tracingOptions ?? {} },
        { spanKind: "client", spanAttributes: { "http.method": request.method, "http.url": maskedUrl(request.url) } },
      );
      const { tracingContext } = updatedOptions.tracingOptions;
      for (const [name, value] of Object.entries(client.createRequestHeaders(tracingContext))) {
        request.headers.set(name, value);
      }
      try {
        const response = await client.withContext(tracingContext, () => next(request));
        span.setAttribute("http.status_code", response.status);
        end(span, response.status >= 400);
        return response;
      } catch (error) {
        end(span, true);
        throw error;
      }
    },
  };
}

function end(span: TracingSpan, isError: boolean): void {
  if (isError) {
    span.setStatus({ status: "error" });
  }
  span.end();
}
