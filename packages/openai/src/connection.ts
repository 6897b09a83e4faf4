import {
  AgentFrameworkError,
  assertCount,
  assertName,
  assertTimeout,
  configurationError,
  isAgentFrameworkError,
} from "@agentfw/core";
import { OpenAI } from "openai";
import { PROVIDER } from "./errors.ts";

/** The credentials: the key, or a function that is asked for it before each call. */
export type OpenAIApiKey = string | (() => string | Promise<string>);

/** What the driver takes beside the body of a request. */
export interface OpenAIRequestOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly maxRetries?: number;
  /** `null` removes a header that the driver would send. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** The body of a request, as far as it matters to whoever stands in for the driver. */
export interface OpenAIRequestBody {
  readonly model: string;
  readonly messages: readonly object[];
  readonly stream?: boolean | null | undefined;
}

/**
 * The part of the official SDK's client that is used. `OpenAI` and `AzureOpenAI` of any supported version fit.
 *
 * `create` gives an async iterable of chunks when `stream` is true, otherwise a completion; both are checked as they
 * come.
 */
export interface OpenAILike {
  readonly chat: {
    readonly completions: {
      create(body: OpenAIRequestBody, options?: OpenAIRequestOptions): PromiseLike<unknown>;
    };
  };
}

/** The body of a request to the Responses API, as far as it matters to whoever stands in for the driver. */
export interface OpenAIResponsesRequestBody {
  readonly model?: string | undefined;
  readonly input?: string | readonly object[] | undefined;
  readonly stream?: boolean | null | undefined;
}

/**
 * The part of the official SDK's client that `OpenAIResponsesClient` uses. `OpenAI` and `AzureOpenAI` fit.
 *
 * `create` gives an async iterable of events when `stream` is true, otherwise a response; both are checked as they come.
 * `retrieve` and `conversations` are asked what the service waits for when it refuses to continue; without them it stays
 * refused.
 */
export interface OpenAIResponsesLike {
  readonly responses: {
    create(body: OpenAIResponsesRequestBody, options?: OpenAIRequestOptions): PromiseLike<unknown>;
    retrieve?(id: string, query: object, options?: OpenAIRequestOptions): PromiseLike<unknown>;
  };
  readonly conversations?:
    | {
        readonly items: {
          list(id: string, query: object, options?: OpenAIRequestOptions): PromiseLike<unknown>;
        };
      }
    | undefined;
}

/** How the service is reached. Nothing is read from the environment; see `openAIOptionsFromEnvironment`. */
export interface OpenAIConnectionOptions {
  /**
   * The key, or a function that gives it, asked once a call. May be left out only with `baseURL`: then no
   * `Authorization` header is sent.
   */
  readonly apiKey?: OpenAIApiKey | undefined;
  /** The address that `/chat/completions` or `/responses` is put behind. Default: `https://api.openai.com/v1`. */
  readonly baseURL?: string | undefined;
  /** The organization that is billed. Default: the key's own. */
  readonly organization?: string | undefined;
  readonly client?: undefined;
}

/** Your own client of the SDK, for Azure, proxies and special headers. Address and credentials are then its matter. */
export interface OpenAIOwnClientOptions<Client = OpenAILike> {
  readonly client: Client;
  readonly apiKey?: undefined;
  readonly baseURL?: undefined;
  readonly organization?: undefined;
}

/** What holds for every request, however the service is reached. */
export interface OpenAITransportOptions {
  /**
   * The longest silence of the service in milliseconds: until the answer begins, retries included, and between any two
   * pieces of it. Without streaming: until the whole answer is there. Default: 300,000; Node's own `fetch` waits no
   * longer, whatever is set here.
   */
  readonly timeoutMs?: number | undefined;
  /** How often a request is repeated that failed before its answer began. Default: 2, or that of your own client. */
  readonly maxRetries?: number | undefined;
}

/** A way to the service, checked. */
export interface Connection<Client> {
  readonly client: Client;
  readonly timeoutMs: number;
  /** What to hand to the driver with a request that ends with `signal`. May ask the caller for the key. */
  requestOptions(signal: AbortSignal): Promise<OpenAIRequestOptions>;
}

/** The part of the driver that an API needs. */
export interface ClientKind<Client> {
  /** Its own client of the driver, which has everything. */
  readonly ofDriver: (driver: OpenAILike & OpenAIResponsesLike) => Client;
  readonly isClient: (client: Client) => boolean;
  /** The method that a client must have. */
  readonly method: string;
}

const DEFAULT_BASE_URL = "https://api.openai.com/v1";
const DEFAULT_TIMEOUT_MS = 300_000;
const LONGEST_WAIT_SECONDS = 60;

/**
 * Checks the options and makes the driver's client when none was passed. Nothing is sent.
 *
 * @throws `configuration` naming the option.
 */
export function openConnection<Client extends object>(
  options: (OpenAIConnectionOptions | OpenAIOwnClientOptions<Client>) & OpenAITransportOptions,
  kind: ClientKind<Client>,
): Connection<Client> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries } = options;
  assertTimeout(timeoutMs, "timeoutMs");
  if (maxRetries !== undefined) {
    assertCount(maxRetries, "maxRetries", 0);
  }
  const limits = { timeout: Math.ceil(timeoutMs), ...(maxRetries === undefined ? {} : { maxRetries }) };
  if (hasOwnClient(options)) {
    assertOwnClient(options, kind);
    const requestOptions = async (signal: AbortSignal) => ({ ...limits, signal });
    return { client: options.client, timeoutMs, requestOptions };
  }
  assertConnectionOptions(options);
  const headers = async () => ({
    Authorization: await authorization(options.apiKey),
    ...(options.organization === undefined ? {} : { "OpenAI-Organization": options.organization }),
  });
  const requestOptions = async (signal: AbortSignal) => ({ ...limits, signal, headers: await headers() });
  return { client: kind.ofDriver(makeClient(options)), timeoutMs, requestOptions };
}

function hasOwnClient<Client>(
  options: OpenAIConnectionOptions | OpenAIOwnClientOptions<Client>,
): options is OpenAIOwnClientOptions<Client> {
  return options.client !== undefined;
}

/**
 * The key travels with each request. Left to the driver, a function's answer would sit in a field that calls running
 * side by side share, and one tenant's request could leave with another's key.
 */
async function authorization(apiKey: OpenAIApiKey | undefined): Promise<string | null> {
  const key = typeof apiKey === "function" ? await askForKey(apiKey) : apiKey;
  if (key === undefined) {
    return null;
  }
  assertKey(key);
  return `Bearer ${key}`;
}

async function askForKey(apiKey: () => string | Promise<string>): Promise<string> {
  try {
    return await apiKey();
  } catch (error) {
    if (isAgentFrameworkError(error)) {
      throw error;
    }
    throw new AgentFrameworkError("unavailable", "apiKey: the function failed; nothing was sent", {
      provider: PROVIDER,
      cause: error,
    });
  }
}

function assertKey(key: unknown): void {
  assertName(key, "apiKey");
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw configurationError("apiKey", "must hold visible ASCII characters only");
  }
}

function makeClient({ baseURL = DEFAULT_BASE_URL }: OpenAIConnectionOptions): OpenAILike & OpenAIResponsesLike {
  return new OpenAI({
    // Each member is given, since the driver fills the missing ones from the environment.
    apiKey: "sent-with-each-request",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL,
    defaultHeaders: withoutEnvironmentHeaders(),
    // The driver prints pieces of answers that it cannot read.
    logLevel: "off",
    fetch: fetchWithoutLongWaits,
  });
}

/** Takes back the headers that the driver reads from this variable by itself. */
function withoutEnvironmentHeaders(): Record<string, null> {
  const lines = (globalThis.process?.env?.["OPENAI_CUSTOM_HEADERS"] ?? "").split("\n");
  const names = lines.filter((line) => line.includes(":")).map((line) => line.slice(0, line.indexOf(":")).trim());
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** The driver waits as long as a server tells it to, for days if it says so. Such an answer is the last one instead. */
async function fetchWithoutLongWaits(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.ok || waitSeconds(response.headers) <= LONGEST_WAIT_SECONDS) {
    return response;
  }
  const headers = new Headers(response.headers);
  headers.set("x-should-retry", "false");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

function waitSeconds(headers: Headers): number {
  const milliseconds = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (!Number.isNaN(milliseconds)) {
    return milliseconds / 1000;
  }
  const after = headers.get("retry-after") ?? "";
  const seconds = Number.parseFloat(after);
  const wait = Number.isNaN(seconds) ? (Date.parse(after) - Date.now()) / 1000 : seconds;
  return Number.isNaN(wait) ? 0 : wait;
}

function assertOwnClient<Client>(options: OpenAIOwnClientOptions<Client>, kind: ClientKind<Client>): void {
  const { client } = options;
  for (const name of ["apiKey", "baseURL", "organization"] as const) {
    if (options[name] !== undefined) {
      throw configurationError(name, "must not be given beside client, which has its own");
    }
  }
  if (typeof client !== "object" || client === null || !kind.isClient(client)) {
    throw configurationError("client", `must have ${kind.method}, as the official SDK's client has`);
  }
}

function assertConnectionOptions({ apiKey, baseURL, organization }: OpenAIConnectionOptions): void {
  if (apiKey === undefined && baseURL === undefined) {
    throw configurationError("apiKey", "must be given, unless baseURL names a server that asks for none");
  }
  if (apiKey !== undefined && typeof apiKey !== "function") {
    assertKey(apiKey);
  }
  if (organization !== undefined) {
    assertName(organization, "organization");
  }
  if (baseURL !== undefined) {
    assertBaseURL(baseURL);
  }
}

function assertBaseURL(baseURL: unknown): void {
  const url = typeof baseURL === "string" && URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw configurationError("baseURL", "must be an http or https address");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw configurationError("baseURL", "must not hold credentials, a query or a fragment");
  }
}
