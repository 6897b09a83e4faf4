import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { TokenCredential } from "@azure/core-auth";
import {
  createDefaultHttpClient,
  createPipelineFromOptions,
  type HttpClient,
  type Pipeline,
  type PipelineOptions,
  type PipelinePolicy,
  retryPolicy,
} from "@azure/core-rest-pipeline";
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

let shared: HttpClient | undefined;

let agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;

/** One for all stores of the process, so that they share connections. */
export function defaultHttpClient(): HttpClient {
  shared ??= createDefaultHttpClient();
  return shared;
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
function agentPolicy(isLoopback: boolean): PipelinePolicy {
  return {
    name: "agentfwAgentPolicy",
    sendRequest(request, next) {
      if (request.agent === undefined && request.tlsSettings === undefined) {
        const options = { keepAlive: true, timeout: IDLE_MS };
        agents ??= { http: new LoopbackAgent(options), https: new HttpsAgent(options) };
        request.agent = isLoopback ? agents.http : agents.https;
      }
      return next(request);
    },
  };
}

/** The library's pipeline with the policies of this package in it. */
export function createStorePipeline(
  options: PipelineOptions,
  { credential, isLoopback }: { readonly credential: TokenCredential; readonly isLoopback: boolean },
): Pipeline {
  const { userAgentOptions, ...rest } = options;
  const prefix = ["agentfw-foundry-state-store", userAgentOptions?.userAgentPrefix].filter(Boolean).join(" ");
  const pipeline = createPipelineFromOptions({ ...rest, userAgentOptions: { userAgentPrefix: prefix } });
  for (const name of REPLACED) {
    pipeline.removePolicy({ name });
  }
  if (isLoopback && options.proxyOptions === undefined) {
    // A proxy from the environment cannot reach this machine's own ports.
    pipeline.removePolicy({ name: "proxyPolicy" });
  }
  pipeline.addPolicy(agentPolicy(isLoopback), { afterPolicies: ["proxyPolicy", "agentPolicy", "tlsPolicy"] });
  const { maxRetries = 3, ...delays } = options.retryOptions ?? {};
  pipeline.addPolicy(retryPolicy([safeRetryStrategy(delays)], { maxRetries }), { phase: "Retry" });
  pipeline.addPolicy(tracingPolicy(), { afterPhase: "Retry" });
  pipeline.addPolicy(tokenPolicy(credential), { phase: "Sign" });
  pipeline.addPolicy(logPolicy(), { afterPhase: "Sign" });
  return pipeline;
}
