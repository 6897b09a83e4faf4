import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import {
  createDefaultHttpClient,
  createPipelineFromOptions,
  type HttpClient,
  type Pipeline,
  type PipelinePolicy,
  retryPolicy,
} from "@azure/core-rest-pipeline";
import type { Endpoint } from "../endpoint.ts";
import type { ServiceSettings } from "../service-options.ts";
import { logPolicy } from "./log-policy.ts";
import { safeRetryStrategy } from "./retry.ts";
import { tokenPolicy } from "./token-policy.ts";
import { tracingPolicy } from "./tracing-policy.ts";

/** The library's policies that would retry writes, follow a redirect with the token, or log and trace names. */
const REPLACED = ["defaultRetryPolicy", "tracingPolicy", "redirectPolicy", "logPolicy"];

/**
 * An idle connection is closed here before servers and gateways do so. A write on one that was closed at the other end would
 * fail without telling whether it was carried out.
 */
const IDLE_MS = 30_000;

let sharedClient: HttpClient | undefined;

let sharedAgents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;

/** One for all stores of the process, so that they share connections. */
export function defaultHttpClient(): HttpClient {
  sharedClient ??= createDefaultHttpClient();
  return sharedClient;
}

/** The library takes an IPv6 address out of a URL with its brackets, which no connection can be made to. */
class LoopbackAgent extends HttpAgent {
  override createConnection(
    ...[options, callback]: Parameters<HttpAgent["createConnection"]>
  ): ReturnType<HttpAgent["createConnection"]> {
    return super.createConnection({ ...options, host: options.host?.replace(/^\[|\]$/g, "") }, callback);
  }
}

/** Connections for requests that have none: after a proxy, which brings its own, and not with TLS options, which need others. */
function agentPolicy({ isLoopback }: Endpoint): PipelinePolicy {
  return {
    name: "agentfwAgentPolicy",
    sendRequest(request, next) {
      if (request.agent === undefined && request.tlsSettings === undefined) {
        const options = { keepAlive: true, timeout: IDLE_MS };
        sharedAgents ??= { http: new LoopbackAgent(options), https: new HttpsAgent(options) };
        request.agent = sharedAgents[isLoopback ? "http" : "https"];
      }
      return next(request);
    },
  };
}

/** The library's pipeline with the policies of this package in it. */
export function createStorePipeline({ pipelineOptions, credential, place }: ServiceSettings): Pipeline {
  const { userAgentOptions, ...rest } = pipelineOptions;
  const prefix = ["agentfw-foundry-state-store", userAgentOptions?.userAgentPrefix].filter(Boolean).join(" ");
  const pipeline = createPipelineFromOptions({ ...rest, userAgentOptions: { userAgentPrefix: prefix } });
  for (const name of REPLACED) {
    pipeline.removePolicy({ name });
  }
  if (place.isLoopback && rest.proxyOptions === undefined) {
    // A proxy from the environment cannot reach this machine's own ports.
    pipeline.removePolicy({ name: "proxyPolicy" });
  }
  pipeline.addPolicy(agentPolicy(place), { afterPolicies: ["proxyPolicy", "agentPolicy", "tlsPolicy"] });
  const { maxRetries = 3, ...delays } = rest.retryOptions ?? {};
  pipeline.addPolicy(retryPolicy([safeRetryStrategy(delays)], { maxRetries }), { phase: "Retry" });
  pipeline.addPolicy(tracingPolicy(), { afterPhase: "Retry" });
  pipeline.addPolicy(tokenPolicy(credential), { phase: "Sign" });
  pipeline.addPolicy(logPolicy(), { afterPhase: "Sign" });
  return pipeline;
}
