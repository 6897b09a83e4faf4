/**
 * What the store needs of a client that is passed in. `Redis` and `Cluster` of ioredis 5 and 6 have it.
 *
 * A client must route a command by its keys on a cluster, and reject with the server's own message when the server
 * answers with an error. One that has only `call` works; the optional members let the store see when the connection is
 * down, so that it neither leaves writes in the driver's queue nor takes the second answer to one call for the first.
 */
export interface RedisClient {
  /** Sends one command and resolves with the server's answer, texts decoded as UTF-8. */
  call(command: string, args: (string | number)[]): Promise<unknown>;
  /** `ready` while commands are sent at once, `wait` before the first connection, `end` after the last. */
  readonly status?: string;
  /** Makes the connection of a client whose status is `wait`. */
  connect?(): Promise<unknown>;
  /** Listens to `ready`, `close`, `connecting`, `end` and `error`. */
  on?(event: string, listener: (detail?: unknown) => void): unknown;
  /** The connection of one node; what is sent at once is gathered in it. */
  readonly stream?: { cork(): void; uncork(): void } | undefined;
  /** Ends what `on` began. */
  off?(event: string, listener: (detail?: unknown) => void): unknown;
}
