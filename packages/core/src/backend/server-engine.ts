import type { ErrorCode } from "../errors.ts";

/** The way to a server. What `Client` is, only the backend knows. */
export interface ServerConnection<Client> {
  /** The client when requests can be sent now; undefined when `open` must be waited for. */
  readonly ready: Client | undefined;
  /** True when a request may be tried again here. Another's client tries again by rules of its own. */
  readonly retries: boolean;
  /** How often a driver may have sent again, by itself, what was under way. */
  readonly interruptions: number;
  /** Waits until requests can be sent. @throws what kept them from it; the next call tries again. */
  open(): Promise<Client>;
  /** Gives up a connection that does not answer, or leads to the wrong server. */
  drop(): void;
  /** Ends what `open` began, after the requests under way. */
  close(): Promise<void>;
}

/** What an error means. */
export interface ServerFailure {
  /** For callers, of a request that certainly was not carried out or did not write. */
  readonly code: ErrorCode;
  readonly reason: string;
  /** With `corrupt`: where. */
  readonly position?: string | undefined;
  /** With `conflict`: the version or etag that is current now, when there is one. */
  readonly currentVersion?: string | undefined;
  /**
   * What became of the request. With the first three the server answered, and did nothing.
   *
   * - `refused`: it does not want to.
   * - `forgotten`: it does not know any more what the request names; the request is sent whole.
   * - `misplaced`: it is the wrong one; the connection is dropped, so that the next one leads elsewhere.
   * - `lost`: the connection ended, and the server may have carried it out.
   * - `unsent`: the driver did not send it.
   *
   * When there is none, the error is neither tried again nor makes an outcome uncertain.
   */
  readonly outcome?: "refused" | "forgotten" | "misplaced" | "lost" | "unsent" | undefined;
}

/** What `ServerCalls` needs of the part of a backend that talks to the server. */
export interface ServerEngine<Client> {
  readonly connection: ServerConnection<Client>;
  /**
   * Of what the driver threw, which callers see as the cause of an error with the code. Errors of the framework come here too,
   * where a request threw one; callers get them as they are.
   */
  failureOf(error: unknown): ServerFailure;
  /** Called before a request is sent while others are under way: they may go out together, at the end of the turn. */
  gather?(client: Client): void;
}

/** A call that a request belongs to, for requests that take more than one step. */
export interface OpenCall {
  /** True when nobody waits for it any more, so that nothing more need be asked. */
  readonly isOver: boolean;
}

/** What is asked of a server, in one round trip. */
export interface ServerRequest<Client, Engine, Result, Reply = unknown> {
  /** Named in errors. */
  readonly name: string;
  /** A write whose answer is lost is `outcome_unknown`. */
  readonly kind: "read" | "write";
  /** True when it may be sent again although it may have been carried out. */
  readonly mayRepeat: boolean;
  readonly signal: AbortSignal | undefined;
  /** Sends it. Never throws, but rejects. */
  readonly send: (client: Client, engine: Engine, call: OpenCall) => Promise<Reply>;
  /** Sends it with all that `send` names, to a server that has forgotten that. */
  readonly sendWhole?: ((client: Client, engine: Engine, call: OpenCall) => Promise<Reply>) | undefined;
  /** What must be asked for next, if that is what the answer says. It has the time that is left. */
  readonly next?:
    | ((reply: Reply, engine: Engine) => ServerRequest<Client, Engine, Result, Reply> | undefined)
    | undefined;
  /**
   * Makes the result of what was answered.
   *
   * @param isRepetition True when the request may have been carried out before, and this is the answer to a repetition.
   * @throws `ServerProblem`, or errors of the framework.
   */
  readonly receive: (reply: Reply, engine: Engine, isRepetition: boolean) => Result;
}
