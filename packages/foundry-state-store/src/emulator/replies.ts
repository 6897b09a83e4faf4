import { isAgentFrameworkError } from "@agentfw/core";

/** What the emulator answers. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly etag?: string | undefined;
}

/** A request that is refused, with all that its reply says. The codes are the emulator's own. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly etag: string | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    extra: { readonly param?: string | undefined; readonly etag?: string | undefined } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.param = extra.param;
    this.etag = extra.etag;
  }

  toReply(): Reply {
    const { status, code, message, param, etag } = this;
    return { status, etag, body: JSON.stringify({ error: { code, message, param } }) };
  }
}

/** A field that breaks a rule. */
export function invalid(param: string, rule: string): Refusal {
  return new Refusal(400, "invalid_request", `${param}: ${rule}`, { param });
}

/** Refuses what the client refuses, whose errors begin with the field. */
export function assertTaken(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!isAgentFrameworkError(error, "configuration")) {
      throw error;
    }
    const [param = ""] = error.message.split(": ", 1);
    throw new Refusal(400, "invalid_request", error.message, { param });
  }
}

/** Nothing is there. */
export function notFound(what: string): Refusal {
  return new Refusal(404, "not_found", `there is no such ${what}`);
}

/** Something is there already. */
export function conflict(message: string): Refusal {
  return new Refusal(409, "conflict", message);
}

/** The etag is not that of the item; the reply's header says which one is, if there is an item. */
export function preconditionFailed(etag: string | undefined): Refusal {
  return new Refusal(412, "precondition_failed", "the etag does not match", { etag });
}

/** A page, as both listings give it. */
export function pageReply(data: readonly object[], cursors: readonly (string | undefined)[], hasMore: boolean): Reply {
  const body = {
    object: "list",
    data,
    first_id: cursors[0] ?? null,
    last_id: cursors.at(-1) ?? null,
    has_more: hasMore,
  };
  return { status: 200, body: JSON.stringify(body) };
}
