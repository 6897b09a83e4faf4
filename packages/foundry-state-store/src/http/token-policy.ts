import type { AccessToken, TokenCredential } from "@azure/core-auth";
import type { PipelinePolicy, PipelineRequest, PipelineResponse } from "@azure/core-rest-pipeline";
import { stateError } from "../errors.ts";
import { isHeaderValue } from "../limits.ts";
import { stateOf } from "./call-state.ts";

/** What tokens are asked for. */
export const TOKEN_SCOPE = "https://ai.azure.com/.default";

/** A token is renewed when it ends within this time. */
const RENEW_BEFORE_MS = 120_000;

/**
 * Puts a bearer token on each request. The library's own policy sends none over plain HTTP, where the emulator listens,
 * and tries again after a 401 only where the service asks for more claims. Here a 401 gets a fresh token, once: the
 * service did nothing, so that is safe for writes too.
 */
export function tokenPolicy(credential: TokenCredential): PipelinePolicy {
  const tokens = new Tokens(credential);
  return {
    name: "agentfwTokenPolicy",
    async sendRequest(request, next) {
      const token = await tokens.get(request);
      request.headers.set("Authorization", `Bearer ${token}`);
      const response = await next(request);
      if (response.status !== 401) {
        return response;
      }
      stateOf(request).mayHaveRun = false;
      const fresh = await tokens.renew(request, { instead: token, claims: claimsOf(response) });
      if (fresh === token) {
        return response;
      }
      request.headers.set("Authorization", `Bearer ${fresh}`);
      return next(request);
    },
  };
}

class Tokens {
  readonly #credential: TokenCredential;
  #token: AccessToken | undefined;
  #pending: Promise<AccessToken> | undefined;

  constructor(credential: TokenCredential) {
    this.#credential = credential;
  }

  async get(request: PipelineRequest): Promise<string> {
    const known = this.#token;
    const now = Date.now();
    if (
      known !== undefined &&
      now < Math.min(known.expiresOnTimestamp - RENEW_BEFORE_MS, known.refreshAfterTimestamp ?? Infinity)
    ) {
      return known.token;
    }
    try {
      return (await this.#ask(request)).token;
    } catch (error) {
      if (known !== undefined && now < known.expiresOnTimestamp) {
        return known.token;
      }
      throw error;
    }
  }

  /** A token that is another than the one that was refused, if the credential gives one. */
  async renew(
    request: PipelineRequest,
    { instead, claims }: { readonly instead: string; readonly claims: string | undefined },
  ): Promise<string> {
    if (this.#token !== undefined && this.#token.token !== instead) {
      return this.#token.token;
    }
    // What others wait for may lack the claims.
    return (await (claims === undefined ? this.#ask(request) : this.#fetch(request, claims))).token;
  }

  /** Asks the credential, once for all who wait; and again after one of them has waited in vain, should it never answer. */
  #ask(request: PipelineRequest): Promise<AccessToken> {
    const pending = this.#pending ?? this.#fetch(request, undefined);
    this.#pending = pending;
    const forget = () => {
      if (this.#pending === pending) {
        this.#pending = undefined;
      }
    };
    request.abortSignal?.addEventListener("abort", forget, { once: true });
    return pending.finally(() => {
      request.abortSignal?.removeEventListener("abort", forget);
      forget();
    });
  }

  async #fetch(request: PipelineRequest, claims: string | undefined): Promise<AccessToken> {
    try {
      const options = claims === undefined ? {} : { claims, enableCae: true };
      const token = await this.#credential.getToken(TOKEN_SCOPE, {
        ...options,
        ...(request.tracingOptions === undefined ? {} : { tracingOptions: request.tracingOptions }),
      });
      // What no header can carry would be a failure of the network, and of a write nobody would know the outcome.
      if (token === null || !isHeaderValue(token.token)) {
        throw stateError("unauthorized", "credential: gave no token");
      }
      this.#token = token;
      return token;
    } catch (cause) {
      throw stateError("unauthorized", "credential: no token could be had", { cause });
    }
  }
}

/** The claims that the service asks a new token to carry. */
function claimsOf({ headers }: PipelineResponse): string | undefined {
  const [, claims] = /claims="([A-Za-z0-9+/=_-]+)"/.exec(headers.get("www-authenticate") ?? "") ?? [];
  return claims === undefined ? undefined : Buffer.from(claims, "base64").toString("utf8");
}
